import type { Issue, Project, ProjectItem, Repository, User, World } from "./world.ts";

export interface BoardOptions {
  readonly columns: readonly string[];
  /** Those who may see it; all unless told. */
  readonly readers?: readonly User[];
  /** Of a person unless it is an organisation's. */
  readonly isOrganization?: boolean;
}

/** What is done to a board on the web site. GitHub does not tell who did it. */
export class Board {
  readonly project: Project;
  readonly #world: World;

  constructor(world: World, owner: string, { columns, readers, isOrganization = true }: BoardOptions) {
    this.#world = world;
    const user = world.user(owner);
    const id = world.newId();
    this.project = {
      ...{ id: `PVT_${id}`, owner: user, isOrganization, items: [], updatedAt: world.time() },
      number: world.projects.filter((one) => one.owner === user).length + 1,
      columns: new Map(columns.map((name) => [`option${world.newId()}`, name])),
      readers: readers && new Set(readers),
    };
    world.projects.push(this.project);
  }

  adds(column: string, issue?: { readonly repository: Repository; readonly issue: Issue }): ProjectItem {
    const id = `PVTI_${this.#world.newId()}`;
    const item: ProjectItem = { id, issue, column: this.#option(column), movedAt: this.#now() };
    this.project.items.push(item);
    return item;
  }

  moves(item: ProjectItem, column: string): void {
    Object.assign(item, { column: this.#option(column), movedAt: this.#now() });
  }

  /** To another place among the items, as when a card is dragged up. */
  reorders(item: ProjectItem, place: number): void {
    const { items } = this.project;
    items.splice(items.indexOf(item), 1);
    items.splice(place, 0, item);
    this.#now();
  }

  renames(column: string, name: string): void {
    this.project.columns.set(this.#option(column), name);
    this.#now();
  }

  #option(column: string): string {
    const found = [...this.project.columns].find(([, name]) => name === column);
    if (!found) throw new Error(`there is no column ${column}`);
    return found[0];
  }

  #now(): string {
    this.project.updatedAt = this.#world.time();
    return this.project.updatedAt;
  }
}
