import type { Task } from '@belfry/contract'
import { type ReactNode, useRef, useState } from 'react'
import { createTask, type NewTask, updateTask } from '../../api/tasks.ts'
import { Form } from '../../forms/form.tsx'
import { checkRequest } from '../../forms/request/check-request.ts'
import styles from '../../forms/request/request.module.css'
import { bodyOf, changesOf, draftOf, emptyRequest, type RequestDraft } from '../../forms/request/request-draft.ts'
import { RequestFields } from '../../forms/request/request-fields.tsx'
import { RequestPreview } from '../../forms/request/request-preview.tsx'
import { RetryFields } from '../../forms/request/retry-fields.tsx'
import { type FieldErrors, useForm } from '../../forms/use-form.ts'
import { useLiveErrors } from '../../forms/use-live-errors.ts'
import { parseWhen } from '../../forms/when/parse-when.ts'
import { type WhenDraft, WhenField } from '../../forms/when/when-field.tsx'
import { wallText } from '../../forms/when/zoned-time.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'

const suggestions = ['in 1 minute', 'in 10 minutes', 'in 1 hour', 'tomorrow 09:00', 'monday 09:00']

type TaskFormProps = {
  workspaceId: string
  /** The pending task that is changed; without one a new one is made. */
  task?: Task
  backTo: string
  onDone(task: Task): unknown
}

type Draft = RequestDraft & { name: string; when: WhenDraft }

/** A task's fields, with what will be sent beside them. */
export function TaskForm({ workspaceId, task, backTo, onDone }: TaskFormProps): ReactNode {
  const [first] = useState(() => draftFor(task))
  const [draft, setDraft] = useState(first)
  const key = useRef(crypto.randomUUID())
  const change = (part: Partial<Draft>) => {
    // Another task than the one that was tried before.
    key.current = crypto.randomUUID()
    setDraft(before => ({ ...before, ...part }))
  }
  const when = parseWhen(draft.when.text, draft.when.zone, new Date())
  const form = useForm({
    read: () => draft,
    check: typed => checkDraft(typed, task),
    submit: typed => save(workspaceId, task && { task, isTimeKept: typed.when === first.when }, typed, key.current),
    onDone: saved => onDone(saved),
  })
  const { errors, onBlur } = useLiveErrors(checkDraft(draft, task), form.errors, draft)
  return (
    <div className={styles.editor}>
      <Form
        form={form}
        onBlur={onBlur}
        action={task ? 'Save the changes' : 'Create the task'}
        more={<ButtonLink to={backTo}>Cancel</ButtonLink>}
      >
        <Card label="Name and time">
          <div className={styles.part}>
            <Field label="Name" error={errors.name} hint="By which you find it again.">
              <TextInput
                name="name"
                value={draft.name}
                onChange={event => change({ name: event.target.value })}
                placeholder="Trial reminder"
                autoComplete="off"
              />
            </Field>
            <WhenField
              label="When"
              name="execute_at"
              value={draft.when}
              onChange={when => change({ when })}
              error={errors.execute_at}
              suggestions={suggestions}
            />
          </div>
        </Card>
        <Card label="Request">
          <div className={styles.part}>
            <RequestFields draft={draft} onChange={change} errors={errors} />
          </div>
        </Card>
        <Card label="Timeout and retries">
          <div className={styles.part}>
            <RetryFields draft={draft} onChange={change} errors={errors} />
          </div>
        </Card>
      </Form>
      <aside className={styles.aside} aria-label="Preview">
        <RequestPreview
          draft={draft}
          facts={{ taskId: task?.id ?? null, scheduledAt: 'error' in when ? null : when.at }}
        />
      </aside>
    </div>
  )
}

function draftFor(task: Task | undefined): Draft {
  if (!task) return { ...emptyRequest, name: '', when: { text: '', zone: viewerZone() } }
  return {
    ...draftOf(task),
    name: task.name,
    when: { text: wallText(new Date(task.execute_at), viewerZone()), zone: viewerZone() },
  }
}

function checkDraft(draft: Draft, task: Task | undefined): FieldErrors {
  const now = new Date()
  const when = parseWhen(draft.when.text, draft.when.zone, now)
  const time = 'error' in when ? when.error : when.at <= now ? 'This time has passed: a task lies in the future.' : null
  return {
    ...(draft.name.trim() === '' ? { name: 'Type in a name.' } : {}),
    ...(time ? { execute_at: time } : {}),
    ...(task && task.payload !== null && draft.payload.trim() === ''
      ? { payload: 'A payload can be replaced, but not taken away: cancel this task and make another.' }
      : {}),
    ...checkRequest(draft),
  }
}

type Change = {
  task: Task
  /** The field shows the time to the second: one that was not touched stays as it is to the millisecond. */
  isTimeKept: boolean
}

function save(workspaceId: string, change: Change | undefined, draft: Draft, key: string): Promise<Task> {
  const when = parseWhen(draft.when.text, draft.when.zone, new Date())
  if ('error' in when) return Promise.reject(new Error(when.error))
  const body: NewTask = { name: draft.name.trim(), execute_at: when.at.toISOString(), ...bodyOf(draft) }
  if (!change) return createTask(workspaceId, body, key)
  const { task, isTimeKept } = change
  const changes = changesOf(isTimeKept ? { ...body, execute_at: task.execute_at } : body, task)
  return Object.keys(changes).length === 0 ? Promise.resolve(task) : updateTask(workspaceId, task.id, changes)
}
