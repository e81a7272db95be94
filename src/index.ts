/** The entry for programs that embed prloom. */
export { type ErrorCode, PrloomError } from "./kernel/errors.ts";
