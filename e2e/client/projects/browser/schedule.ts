import { Belfry, type Run } from '@belfry/client'

export type Wish = { from: string; apiKey: string; targetUrl: string }

/** Belfry answers on the page's own origin. */
export async function schedule({ from, apiKey, targetUrl }: Wish): Promise<Run> {
  const belfry = new Belfry({ apiKey, baseUrl: self.location.origin })
  const task = await belfry.tasks.create({
    name: `From a ${from}`,
    targetUrl,
    executeAt: new Date(Date.now() + 5_000),
    method: 'post',
    payload: { from },
  })
  for (;;) {
    const { data } = await belfry.runs.list({ taskId: task.id })
    if (data[0]) return data[0]
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
