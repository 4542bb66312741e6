import { ApiError, Belfry, type BelfryOptions, type Run, type Task } from '@belfry/client'

/** Compiled as a separate project, with several settings of the compiler. */
export async function schedule({ targetUrl, ...options }: BelfryOptions & { targetUrl: string }): Promise<Run> {
  const belfry = new Belfry(options)
  const task: Task = await belfry.tasks.create({
    name: 'From TypeScript',
    targetUrl,
    executeAt: new Date(Date.now() + 5_000),
    method: 'post',
    payload: { from: 'typescript' },
  })
  const code: string = await belfry.tasks.get('task_none').then(
    () => '',
    (error: unknown) => (error instanceof ApiError ? error.code : 'another error'),
  )
  if (code !== 'not_found') throw new Error(`An unknown task has the code ${code}.`)
  for (;;) {
    for await (const run of belfry.runs.list({ taskId: task.id, status: ['success', 'failed'] })) return run
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
