/** Thrown out of a step when the dispatcher stops in its middle: nothing is recorded, the next start does it again. */
export class StepInterrupted extends Error {
  override readonly name = "StepInterrupted";
}
