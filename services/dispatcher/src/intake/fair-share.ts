/**
 * Whether somebody who has `taken` places may take one more of those that are `free`: at most `weight` for each free one.
 * So one alone takes weight/(weight+1) of all, several share alike, and there is always a place for who comes next.
 */
export function mayTake(taken: number, free: number, weight: number): boolean {
  return free > 0 && taken < weight * free
}
