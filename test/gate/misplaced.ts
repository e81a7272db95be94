import type { PostedGate } from "../../src/gate/judge-comment.ts";
import { A, B, type Case, signed } from "./comments.ts";

const open = (gateId: string): PostedGate => ({ gateId, state: "open" });
const elsewhere = (gateId: string): PostedGate => ({ ...open(gateId), isElsewhere: true });

/** Comments at another place than the one where the plan was shown. */
export const MISPLACED: readonly Case[] = [
  { body: "approved", gates: [elsewhere(A)], outcome: "none, told" },
  { body: `/approve ${A}`, gates: [elsewhere(A)], outcome: "none, told" },
  { body: "/reject no", gates: [elsewhere(A)], outcome: "none, told" },
  { body: "/revise more", gates: [elsewhere(A)], outcome: "none, told" },
  { body: "ship it", gates: [elsewhere(A)], outcome: "none" },
  { body: "approved", gates: [elsewhere(A), open(B)], outcome: `approve ${B}` },
  { body: `/approve ${A}`, gates: [elsewhere(A), open(B)], outcome: "none, told" },
  { body: "/hold", gates: [elsewhere(A)], outcome: "hold" },
  { body: "/withdraw", gates: [{ ...elsewhere(A), state: "approved" }], outcome: `withdraw ${A}` },
  signed("approve", "none, told", { gates: [elsewhere(A)] }),
  // In a review, at the pull request where it was shown.
  { body: "LGTM", about: { isRemark: true, isVerdict: true }, outcome: "none, told" },
  { body: `/approve ${A}`, about: { isRemark: true }, outcome: "none, told" },
  { body: "/reject no", about: { isRemark: true }, outcome: "none, told" },
  { body: "", about: { isRemark: true, isVerdict: true }, outcome: "none, told" },
  { body: "Nice work.", about: { isRemark: true, isVerdict: true }, outcome: "none, told" },
  { body: "Nice work.", about: { isRemark: true }, outcome: "none" },
  { body: "", about: { isRemark: true, isVerdict: true }, gates: [elsewhere(A)], outcome: "none" },
  { body: "/hold", about: { isRemark: true }, outcome: "hold" },
  { body: "/unhold", about: { isRemark: true }, outcome: "none, told" },
  { body: "/withdraw", about: { isRemark: true }, gates: [{ gateId: A, state: "approved" }], outcome: `withdraw ${A}` },
];
