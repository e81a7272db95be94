import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

/** A process of the same user, in no sandbox, that works against us as fast as it can until it is ended. */
export interface Linker {
  end(): Promise<void>;
}

async function running(child: ChildProcess): Promise<Linker> {
  if (child.stdout) await once(child.stdout, "data");
  return {
    async end() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

const LINKING = `
import { symlinkSync } from "node:fs";
const [, target, ...places] = process.argv;
const plants = (place) => { try { symlinkSync(target, place); return true; } catch { return false; } };
console.log("ready");
`;

function linking(how: string, target: string, places: readonly string[]): Promise<Linker> {
  const args = ["--input-type=module", "-e", LINKING + how, target, ...places];
  return running(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] }));
}

/** Puts links to `target` at these places whenever nothing is there. */
export function plantLinks(target: string, places: readonly string[]): Promise<Linker> {
  return linking("for (;;) places.forEach(plants);", target, places);
}

/** Puts a link to `target` at each place in turn, and another one in the moment in which that is removed. */
export function plantAgain(target: string, places: readonly string[]): Promise<Linker> {
  const how = "for (const place of places) for (let left = 2; left > 0; ) if (plants(place)) left -= 1;";
  return linking(how, target, places);
}

const SWAP = `
import ctypes, os, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None)
one, two = sys.argv[2].encode(), sys.argv[3].encode()
print("ready", flush=True)
while True: libc.renameat2(-100, one, -100, two, 2)
`;

/** Exchanges two names in a folder again and again. */
export function swapNames(folder: string, one: string, two: string): Promise<Linker> {
  return running(spawn("python3", ["-c", SWAP, folder, one, two], { stdio: ["ignore", "pipe", "inherit"] }));
}

/** Exchanging takes a call that Node does not have. */
export const NO_SWAPS = (() => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "no python3";
  }
})();
