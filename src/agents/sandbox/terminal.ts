import { readCheckedOut } from "../../kernel/files.ts";

const TIOCSTI_SWITCH = "/proc/sys/dev/tty/legacy_tiocsti";

/**
 * Further arguments of bwrap for a program that is given a person's terminal. Where the kernel still lets a program type
 * into its terminal (TIOCSTI), it could type a command into the shell outside; a session of its own prevents that, at
 * the price that the program is not told when the window changes its size.
 */
export function terminalArgs(tiocsti = readCheckedOut(TIOCSTI_SWITCH)): readonly string[] {
  return tiocsti?.trim() === "0" ? [] : ["--new-session"];
}
