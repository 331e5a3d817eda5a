/**
 * Context switches and page faults so far, from what `process.resourceUsage` of a runtime returns.
 *
 * @param {NodeJS.ResourceUsage} used
 */
export const eventsOf = (used) => ({
  switches: {
    voluntary: used.voluntaryContextSwitches,
    involuntary: used.involuntaryContextSwitches,
  },
  page_faults: { minor: used.minorPageFault, major: used.majorPageFault },
});

/** What a system tells that counts none of it. */
export const UNKNOWN = { switches: null, page_faults: null };

/** Page faults of all threads, ended ones too, from a Linux `/proc/self/stat`. */
export function faultsOf(stat) {
  // The program's name stands in brackets and may hold anything; the third field follows it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { minor: Number(fields[7]), major: Number(fields[9]) };
}
