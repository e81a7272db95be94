import assert from "node:assert/strict";
import { after } from "node:test";
import { makeProject, type Project, type ProjectOptions } from "./project.ts";

/** Makes projects that are removed after the tests of the `describe`, or of the file, that this is called in. */
export function projectMaker(): (options?: ProjectOptions) => Project;
export function projectMaker<P extends Project>(make: (options?: ProjectOptions) => P): (options?: ProjectOptions) => P;
export function projectMaker(make: (options?: ProjectOptions) => Project = makeProject) {
  const projects: Project[] = [];
  after(() => {
    for (const project of projects) project.remove();
  });
  return (options?: ProjectOptions): Project => {
    const project = make(options);
    projects.push(project);
    return project;
  };
}

/** Runs a command that must succeed; returns what it printed. */
export async function succeeds(project: Project, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await project.cli(args);
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

/** Runs the dispatcher until it has nothing to do, which must succeed; returns what it printed. */
export async function works(project: Project): Promise<string> {
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, `${stderr}${stdout}`);
  return stdout;
}
