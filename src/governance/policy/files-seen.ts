import { type Files, realPath } from "./paths.ts";
import { realFiles } from "./real-files.ts";

/**
 * The file system as it is seen below another root, that of a process with mounts of its own: links are followed there and not
 * here. `root` is asked for at each look. Where it throws, or cannot be looked into, so does this: links that are not seen would
 * lead anywhere, so nothing that changes something is allowed then.
 */
export function filesSeenFrom(root: () => string): Files {
  const top = (): string => {
    const path = root();
    if (realFiles.kind(path) !== "folder") throw new Error("the files of the run cannot be looked at");
    return path;
  };
  const real = (path: string): string | undefined => {
    const found = realPath(path, "/", seen);
    return found === undefined ? undefined : `${top()}${found}`;
  };
  const seen: Files = {
    link: (path) => realFiles.link(`${top()}${path}`),
    kind(path) {
      const found = real(path);
      return found === undefined ? undefined : realFiles.kind(found);
    },
    entries(path) {
      const found = real(path);
      return found === undefined ? { links: [], folders: [], others: [] } : realFiles.entries(found);
    },
  };
  return seen;
}
