import { type Files, realPath } from "./paths.ts";
import { realFiles } from "./real-files.ts";

/**
 * The file system as it is seen below another root, that of a process with mounts of its own: links are followed there and not
 * here. `root` is asked for at each look, and may throw: then nothing that changes something is allowed.
 */
export function filesSeenFrom(root: () => string): Files {
  const real = (path: string): string | undefined => {
    const found = realPath(path, "/", seen);
    return found === undefined ? undefined : `${root()}${found}`;
  };
  const seen: Files = {
    link: (path) => realFiles.link(`${root()}${path}`),
    kind(path) {
      const found = real(path);
      return found === undefined ? undefined : realFiles.kind(found);
    },
    entries(path) {
      const found = real(path);
      return found === undefined ? { links: [], folders: [] } : realFiles.entries(found);
    },
  };
  return seen;
}
