/** Does something that must not take longer. Rejects when it does; what it was doing goes on unheard. */
export async function withinMs<T>(ms: number, act: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('No answer in time.')), ms)
  })
  return Promise.race([act(), late]).finally(() => clearTimeout(timer))
}
