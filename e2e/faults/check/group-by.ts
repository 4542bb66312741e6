/** Groups records by their task. */
export function groupBy<T extends { taskId: string }>(things: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const thing of things) {
    const group = groups.get(thing.taskId)
    if (group) group.push(thing)
    else groups.set(thing.taskId, [thing])
  }
  return groups
}
