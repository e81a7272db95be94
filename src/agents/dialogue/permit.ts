import { messageOf } from "../../kernel/errors.ts";
import type { Permission, Permit, PermitRequest } from "../port.ts";

const NO_PERSON = "No person can be asked in this run. Do without it, and say in your report what you could not do.";

/** What holds where no policy is given: in a sandbox anything may be done, elsewhere only what changes nothing. */
export function usualPermit(sandboxed: boolean): (request: PermitRequest) => Permission {
  return ({ reads }) => (sandboxed || reads ? { allow: true } : { allow: false, reason: NO_PERSON });
}

/** Asks, and takes a failure for a no. */
export async function permission(permit: Permit, request: PermitRequest): Promise<Permission> {
  try {
    return await permit(request);
  } catch (error) {
    return { allow: false, reason: `prloom could not decide whether ${request.tool} may be used: ${messageOf(error)}` };
  }
}
