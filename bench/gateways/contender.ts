/** What is compared: how each is got, started and spoken to, and which settings it has that are not its defaults. */

export interface Started {
  /** With the path that requests go to. */
  readonly url: string;
  /** The root of its processes; undefined for what has none of its own. */
  readonly pid: number | undefined;
  /** Headers that its requests carry beside everybody's. */
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Where it runs: the upstream's address, a folder for its files, and the folder that installations are kept in. */
export interface Place {
  readonly upstream: string;
  readonly workspace: string;
  readonly cache: string;
}

export interface Contender {
  readonly name: string;
  /** Settings other than its defaults, and what to know of it. */
  readonly about: string;
  /** Resolves with the version once it can be started; rejects with the reason why it cannot. */
  readonly install: (place: Place) => Promise<string>;
  readonly start: (place: Place) => Promise<Started>;
}
