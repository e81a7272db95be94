import { after } from "node:test";
import { makeProject, type Project, type ProjectOptions } from "./project.ts";

/** Makes projects that are removed after the tests of the `describe`, or of the file, that this is called in. */
export function projectMaker(): (options?: ProjectOptions) => Project {
  const projects: Project[] = [];
  after(() => {
    for (const project of projects) project.remove();
  });
  return (options) => {
    const project = makeProject(options);
    projects.push(project);
    return project;
  };
}
