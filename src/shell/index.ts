/** The export path `holdfast`: the gateway as a library. */

export {};
