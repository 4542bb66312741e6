export function succeedsWithin(ms: number, act: () => Promise<unknown>): Promise<boolean> {
  return withinMs(ms, act).then(
    () => true,
    () => false,
  )
}

/** Rejects after `ms`. The operation itself is not cancelled. */
export async function withinMs<T>(ms: number, act: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No response within ${ms} ms.`)), ms)
  })
  return Promise.race([act(), late]).finally(() => clearTimeout(timer))
}
