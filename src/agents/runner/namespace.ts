/** bwrap's arguments: all in the new pid namespace dies with its first process, whatever it did to its session or env. */
export const NAMESPACE_ARGS = ["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"];
