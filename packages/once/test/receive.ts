import { expect, it } from 'vitest'

type Execute = (text: string) => PromiseLike<unknown>

/** Does work once for an id; the work executes statements in the transaction. */
export type Receive = (id: string, work: (execute: Execute) => Promise<unknown>) => Promise<unknown>

/** Returns a promise and the function that resolves it. */
export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

/** Where the work of a test leaves its effects. */
export const createEffects = 'CREATE TABLE effects (id varchar(255), number integer)'

/** The effect of an id. */
export const insertEffect = (id: string, number = 1) => `INSERT INTO effects VALUES ('${id}', ${number})`

/**
 * Tests what each database promises.
 * @param countEffects - Counts the effects of an id.
 */
export function testReceive(receive: () => Receive, countEffects: (id: string) => Promise<number>): void {
  it('has one effect for twenty requests at once, and gives all of them the first answer', async () => {
    let works = 0
    const request = () =>
      receive()('task_twenty', async execute => {
        const number = ++works
        await execute(insertEffect('task_twenty', number))
        return { number, text: 'Grüße' }
      })
    const answers = await Promise.all(Array.from({ length: 20 }, request))
    expect(new Set(answers.map(answer => JSON.stringify(answer)))).toEqual(new Set(['{"number":1,"text":"Grüße"}']))
    expect(await countEffects('task_twenty')).toBe(1)
  })

  it('leaves no effect of work that failed, and does it with the next request', async () => {
    const request = (fails: boolean) =>
      receive()('task_failing', async execute => {
        await execute(insertEffect('task_failing'))
        if (fails) throw new Error('The work failed.')
      })
    await expect(request(true)).rejects.toThrow('The work failed.')
    expect(await countEffects('task_failing')).toBe(0)
    await request(false)
    await request(false)
    expect(await countEffects('task_failing')).toBe(1)
  })

  it('does the work of a request that waited for a failing one', async () => {
    const [works, fails] = [deferred(), deferred()]
    const first = receive()('task_waiting', async execute => {
      await execute(insertEffect('task_waiting'))
      works.resolve()
      await fails.promise
      throw new Error('The work failed.')
    })
    await works.promise
    const second = receive()('task_waiting', async execute => {
      await execute(insertEffect('task_waiting'))
      return 'done'
    })
    fails.resolve()
    await expect(first).rejects.toThrow('The work failed.')
    expect(await second).toBe('done')
    expect(await countEffects('task_waiting')).toBe(1)
  })

  it('distinguishes ids by letter case and trailing spaces', async () => {
    for (const id of ['task_a', 'task_A', 'task_a '])
      await receive()(id, async execute => void (await execute(insertEffect('case'))))
    expect(await countEffects('case')).toBe(3)
  })
}
