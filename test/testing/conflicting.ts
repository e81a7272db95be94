import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./project.ts";

/** Two plans that are done and changed the same lines; the first is merged. `more` are done as well. */
export async function conflicting(project: Project, ...more: string[]): Promise<Project> {
  project.plan("first", ["a", "b"]);
  project.plan("second", ["c", "d"]);
  for (const id of more) project.plan(id, [id]);
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  const merged = await project.cli(["merge", "first"]);
  assert.equal(merged.code, 0, merged.stderr);
  return project;
}

export const tip = (project: Project, id: string) => project.git("rev-parse", `prloom/${id}`).trim();

export const PERSON = ["-c", "user.name=P", "-c", "user.email=p@localhost"];

/** A commit of a person. */
export function commitFile(project: Project, folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), text);
  project.git("-C", folder, "add", "-f", "--", name);
  project.git("-C", folder, ...PERSON, "commit", "-qm", name);
}
