/** The export path `holdfast/client`: what an official SDK needs to name its calls. */

export { keyed } from './keyed.js';
