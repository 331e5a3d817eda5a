/** The barrier across processes: a line on stdout when this one is ready, a line on stdin to go on. */

import { sleep } from "./clock.js";

const NEWLINE = 10;
/** Between two looks at a stdin that does not block, as some parents leave it. */
const PAUSE_MS = 0.05;

/**
 * @param {import("./system.js").System} system
 * @returns {() => void} says that the process is ready and waits for the line
 */
export const barrier = (system) => () => {
  system.print("ready\n");
  // One byte at a time: what follows the line belongs to the next iteration.
  const byte = new Uint8Array(1);
  do {
    if (readSome(system, byte) === 0) {
      throw new Error(
        "stdin ended where measure.share waits for the line that starts an iteration",
      );
    }
  } while (byte[0] !== NEWLINE);
};

function readSome(system, bytes) {
  for (;;) {
    try {
      return system.read(bytes);
    } catch (error) {
      // Windows' word for the end of a pipe.
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw error;
      sleep(PAUSE_MS);
    }
  }
}
