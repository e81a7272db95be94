import { mkdirSync, watch } from "node:fs";

/** Resolves when a look at the folder says so; looks again whenever something in it changes. */
export async function until(folder, isSo) {
  mkdirSync(folder, { recursive: true });
  const watcher = watch(folder);
  const changes = new Promise((resolve) => {
    const look = () => isSo() && resolve();
    watcher.on("change", look);
    look();
  });
  await changes;
  watcher.close();
}
