/** Numbers as a reader of a report meets them. */

const NO_BREAK_SPACE = '\u00A0';

/** A whole number with its thousands set apart: 12,345. */
export function grouped(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** A share from 0 to 1 in per cent; rounding never makes all of what is not all, nor none of what is some. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return '—';
  const value = share * 100;
  const nearlyAll = value > 99 && value < 100;
  const hardlyAny = value > 0 && value < 1;
  let text = value.toFixed(0);
  if (nearlyAll) text = Math.min(99.9, value).toFixed(1);
  else if (hardlyAny) text = Math.max(0.1, value).toFixed(1);
  return `${text}${NO_BREAK_SPACE}%`;
}

/** Seconds: one decimal below ten, none above; a dash for what is not there. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '—';
  return `${value < 10 ? trimmed(value, 1) : grouped(value)}${NO_BREAK_SPACE}s`;
}

/** At most `digits` decimals, without closing zeros. */
export function trimmed(value: number, digits: number): string {
  return Number.isFinite(value) ? String(Number(value.toFixed(digits))) : '—';
}

/** A ratio such as executions per call, with two decimals. */
export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '—' : value.toFixed(2);
}

/** Tokens in thousands or millions. */
export function tokens(value: number): string {
  if (value >= 1e6) return `${trimmed(value / 1e6, value >= 1e7 ? 0 : 1)}${NO_BREAK_SPACE}million`;
  if (value >= 1e4) return `${grouped(value / 1e3)}${NO_BREAK_SPACE}thousand`;
  return grouped(value);
}

/** How many of what: 1 call, 2 calls. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)}${NO_BREAK_SPACE}${Math.round(value) === 1 ? one : many}`;
}
