import { z } from 'zod'
import { namedObject } from './objects.ts'
import { problem } from './problem.ts'
import { task, taskBrief } from './task.ts'
import { exampleTime } from './text-rules.ts'

const maxTasks = 1_000

const exampleRow = {
  name: 'Trial reminder',
  url: 'https://example.com/hooks/reminder',
  method: 'POST',
  execute_at: exampleTime(3_600_000),
}

const wrongCount = `tasks must have 1 to ${maxTasks} elements.`

/** The body that creates many tasks. Each element is parsed separately, so an invalid one fails alone. */
export const createTasksBody = z.strictObject({
  tasks: z
    .array(z.unknown())
    .min(1, wrongCount)
    .max(maxTasks, wrongCount)
    .meta({ description: 'Each element is the body that creates one task.', examples: [[exampleRow]] }),
})

const { code, title, status, detail, errors } = problem.shape

/** The problem of a row, as a single request would have received it. */
const rowError = namedObject('RowError', { code, title, status, detail, errors })

const batchRow = z.union([z.object({ index: z.int(), task }), z.object({ index: z.int(), error: rowError })])

export type BatchRow = z.infer<typeof batchRow>

/** The results of a batch, in the order of the body. */
export const batchAnswer = namedObject('TaskBatch', { data: z.array(batchRow) })

const briefRow = z.union([z.object({ index: z.int(), task: taskBrief }), z.object({ index: z.int(), error: rowError })])

/** The same for a caller without the right `task.read`. */
export const batchBrief = namedObject('TaskBatchBrief', { data: z.array(briefRow) })
