import type { Run } from '@belfry/contract'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { publishEvent } from '../../api/events.ts'
import { followRuns } from '../../api/runs.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { StateBadge } from '../../ui/state-badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './first-steps.module.css'
import { suggestedTarget } from './suggested-target.ts'

const columns: ReadonlyArray<Column<Run>> = [
  { id: 'task', header: 'Dispatch', cell: run => run.task_name },
  { id: 'status', header: 'Status', cell: run => <StateBadge state={run.status} /> },
  { id: 'answer', header: 'Answer', cell: run => run.response_status ?? run.error?.message ?? '–' },
  { id: 'took', header: 'Took', align: 'end', isExtra: true, cell: run => formatDuration(run.duration_ms) },
  { id: 'at', header: 'Started', align: 'end', isExtra: true, cell: run => <RelativeTime at={run.started_at} /> },
]

/** Publishes an event to a target of the user's, and shows what comes of it as it comes. */
export function SendTest({ onArrived }: { onArrived: () => void }): ReactNode {
  const { workspace, to } = useWorkspace()
  const [isSent, setIsSent] = useState(false)
  const suggested = suggestedTarget(window.location)
  const runs = useArrivingRuns(workspace.id, onArrived)
  const form = useForm({
    read: field => ({ target_url: field('target_url').trim() }),
    check: body => ({
      ...(/^https?:\/\/./.test(body.target_url) ? {} : { target_url: 'Type in an http(s) address.' }),
    }),
    submit: body => publishEvent(workspace.id, { topic: 'test', payload: { hello: 'world' }, ...body }),
    onDone: () => setIsSent(true),
  })
  return (
    <>
      <Form form={form} action={isSent ? 'Send another' : 'Send a test'}>
        <Field
          label="Target"
          hint={
            suggested === '' ? (
              'An address of yours that takes a POST.'
            ) : (
              <>
                Suggested is the receiver that <code>npm start</code> runs. Any address that takes a POST will do.
              </>
            )
          }
          error={form.errors.target_url}
        >
          <TextInput
            name="target_url"
            type="url"
            isMono
            defaultValue={suggested}
            placeholder="https://example.com/hooks/hello"
          />
        </Field>
      </Form>
      <div aria-live="polite">
        {runs.length === 0 && (
          <p className={styles.live}>
            {isSent ? 'On its way…' : 'Every dispatch of this workspace appears here as it happens.'}
          </p>
        )}
        {runs.length > 0 && (
          <Table
            label="Dispatches as they happen"
            columns={columns}
            rows={runs}
            rowKey={run => run.id}
            rowLink={run => to.run(run.id)}
            isFresh={() => true}
          />
        )}
      </div>
    </>
  )
}

function useArrivingRuns(workspaceId: string, onArrived: () => void): Run[] {
  const [runs, setRuns] = useState<Run[]>([])
  const arrived = useRef(onArrived)
  arrived.current = onArrived
  useEffect(() => {
    const gone = new AbortController()
    const onRun = (run: Run) => {
      setRuns(before => [run, ...before.filter(({ id }) => id !== run.id)].slice(0, 10))
      if (run.status === 'success') arrived.current()
    }
    // A refusal of the stream leaves the list empty; the log has the run all the same.
    followRuns(workspaceId, onRun, gone.signal).catch(() => {})
    return () => gone.abort()
  }, [workspaceId])
  return runs
}
