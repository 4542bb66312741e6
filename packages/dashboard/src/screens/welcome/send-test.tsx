import type { Run } from '@belfry/contract/run'
import type { Workspace } from '@belfry/contract/workspace'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { publishEvent } from '../../api/events.ts'
import { followLog } from '../../api/runs.ts'
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
  { id: 'task', header: 'Task', cell: run => run.task_name },
  { id: 'status', header: 'Status', cell: run => <StateBadge state={run.status} /> },
  { id: 'response', header: 'Response', cell: run => run.response_status ?? run.error?.message ?? '–' },
  { id: 'duration', header: 'Duration', align: 'end', isExtra: true, cell: run => formatDuration(run.duration_ms) },
  { id: 'at', header: 'Started', align: 'end', isExtra: true, cell: run => <RelativeTime at={run.started_at} /> },
]

/** Publishes an event to a target of the user, and shows the runs as they happen. */
export function SendTest({ onArrived }: { onArrived: () => void }): ReactNode {
  const { workspace, to } = useWorkspace()
  const [isSent, setIsSent] = useState(false)
  const suggested = suggestedTarget(window.location)
  const runs = useLiveRuns(workspace, onArrived)
  const form = useForm({
    read: field => ({ target_url: field('target_url').trim() }),
    check: body => ({
      ...(/^https?:\/\/./.test(body.target_url) ? {} : { target_url: 'Enter an http:// or https:// URL.' }),
    }),
    submit: body => publishEvent(workspace.id, { topic: 'test', payload: { hello: 'world' }, ...body }),
    onDone: () => setIsSent(true),
  })
  return (
    <>
      <Form form={form} action={isSent ? 'Send another' : 'Send a test'}>
        <Field
          label="Target URL"
          hint={
            suggested === '' ? (
              'Any URL of yours that accepts POST requests.'
            ) : (
              <>
                The suggested URL is the receiver of <code>npm start</code>. Any URL that accepts POST requests works.
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
          <p className={styles.live}>{isSent ? 'Sending…' : 'Runs of this workspace appear here as they happen.'}</p>
        )}
        {runs.length > 0 && (
          <Table
            label="Live runs"
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

function useLiveRuns({ id: workspaceId, organization_id: organizationId }: Workspace, onArrived: () => void): Run[] {
  const [runs, setRuns] = useState<Run[]>([])
  const arrived = useRef(onArrived)
  arrived.current = onArrived
  useEffect(() => {
    const closed = new AbortController()
    const onRun = (run: Run) => {
      setRuns(before => [run, ...before.filter(({ id }) => id !== run.id)].slice(0, 10))
      if (run.status === 'success') arrived.current()
    }
    // If the API rejects the stream, the list stays empty. The log still has the run.
    followLog({ organizationId, workspaceId }, { onRun }, closed.signal).catch(() => {})
    return () => closed.abort()
  }, [organizationId, workspaceId])
  return runs
}
