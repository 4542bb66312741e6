import type { Run, RunDetail } from '@belfry/contract/run'
import type { Task } from '@belfry/contract/task'
import { excerptOf } from '@belfry/domain/excerpt'
import { isTerminal } from '@belfry/domain/task-state'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, RotateCcw, Terminal } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'react-router'
import { call } from '../../api/call.ts'
import { allOf, queryOf } from '../../api/queries.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { outcomeText } from '../../layout/error-labels.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink, Link } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { formatDuration } from '../../ui/format-time.ts'
import { showControls } from '../../ui/show-controls.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { BodyView } from './body/body-view.tsx'
import styles from './run.module.css'
import { Timing } from './timing.tsx'
import { toCurl } from './to-curl.ts'

export function RunContent({ run }: { run: RunDetail }) {
  const { workspace, to } = useWorkspace()
  const { data: job } = useQuery({
    ...queryOf('getCronJob', { ws: workspace.id, cronjob: run.cronjob_id ?? '' }),
    enabled: run.cronjob_id !== null,
  })
  const filtered = (filter: string, value: string) => (
    <Link key={value} className={styles.filter} to={to.log(`?${new URLSearchParams({ [filter]: value })}`)}>
      <code>{value}</code>
    </Link>
  )
  return (
    <>
      <Actions run={run} />
      {run.error && <Failure run={run} error={run.error} />}
      {run.note && <p className={styles.note}>{run.note}</p>}
      <Timing run={run} />
      <DefinitionList
        rows={{
          Task: (
            <Link to={to.task(run.task_id)}>
              <bdi>{run.task_name}</bdi>
            </Link>
          ),
          'Cron job': run.cronjob_id && (
            <Link to={to.cronJob(run.cronjob_id)}>
              <bdi>{job?.name ?? run.cronjob_id}</bdi>
            </Link>
          ),
          Topic: run.topic && filtered('topic', run.topic),
          Labels: run.labels.length > 0 && run.labels.map(label => filtered('label', label)),
          Target: <code className={styles.url}>{`${run.method} ${run.url}`}</code>,
          Run: <code className={styles.url}>{run.id}</code>,
        }}
      />
      <Tabs
        label="Response and request"
        tabs={[
          { id: 'response', label: 'Response', content: <Message label="response" run={run} /> },
          { id: 'request', label: 'Request', content: <Message label="request" run={run} /> },
        ]}
      />
    </>
  )
}

function Actions({ run }: { run: RunDetail }) {
  const { workspace, to } = useWorkspace()
  const { data: task } = useQuery(queryOf('getTask', { ws: workspace.id, task: run.task_id }))
  const { data: attempts = [] } = useQuery({
    ...allOf('listRuns', { ws: workspace.id, query: { task_id: run.task_id } }),
    select: runs => runs.toSorted((a, b) => a.attempt - b.attempt),
  })
  const refusal = useRefusal('task.write')
  const [replay, setReplay] = useState<Task | null>(null)
  const isFinished = !task || isTerminal(task.state)
  const notFinished = isFinished ? null : `The task is ${task.state}. You can replay it once it has finished.`
  return (
    <>
      <div className={styles.actions}>
        <ChangeButton
          text="Replay"
          icon={<RotateCcw size={14} />}
          refusal={refusal ?? notFinished}
          run={() => call('replayTask', { ws: workspace.id, task: run.task_id, body: {} })}
          onDone={setReplay}
        />
        <ButtonLink to={to.replayTask(run.task_id)} refusal={refusal ?? notFinished}>
          Replay with changes
        </ButtonLink>
        <CopyButton
          text={toCurl(run.request)}
          icon={<Terminal size={15} />}
          note="Copied with the signature of this run, which receivers refuse after five minutes."
        >
          Copy as curl
        </CopyButton>
        <AttemptLinks run={run} attempts={attempts} />
      </div>
      {replay && (
        <p className={styles.done} role="status">
          Replayed as <Link to={to.task(replay.id)}>a new task</Link>. Its run appears in the log.
        </p>
      )}
      {task?.state === 'retrying' && task.next_retry_at && (
        <p className={styles.note}>
          Next retry <RelativeTime at={task.next_retry_at} />.
        </p>
      )}
      {task?.state === 'dead' && run.id === attempts.at(-1)?.id && (
        <p className={styles.note}>
          No retries left. <Link to={to.task(run.task_id)}>The task</Link> is a dead letter.
        </p>
      )}
    </>
  )
}

function AttemptLinks({ run, attempts }: { run: Run; attempts: readonly Run[] }) {
  const { to } = useWorkspace()
  const { search } = useLocation()
  if (attempts.length < 2) return null
  return (
    <nav className={styles.attempts} aria-label="Runs of the task">
      <span>
        Run {run.attempt} of {attempts.length}
      </span>
      <ol>
        {attempts.map((one, index) => {
          const gap = Date.parse(one.started_at) - Date.parse(attempts[index - 1]?.finished_at ?? one.started_at)
          const outcome = outcomeText(one.response_status, one.error?.code)
          const after = index === 0 ? '' : `, ${formatDuration(Math.max(0, gap))} after the one before`
          return (
            <li key={one.id}>
              <Tooltip text={`Run ${one.attempt}: ${outcome}${after}`}>
                <Link
                  to={to.run(one.id) + search}
                  className={one.status === 'success' ? styles.good : styles.bad}
                  aria-label={`Run ${one.attempt}: ${outcome}`}
                  aria-current={one.id === run.id ? 'true' : undefined}
                  replace
                />
              </Tooltip>
            </li>
          )
        })}
      </ol>
    </nav>
  )
}

function Failure({ run, error }: { run: RunDetail; error: NonNullable<Run['error']> }) {
  const cause = run.response?.body_encoding === 'utf8' ? excerptOf(run.response.body) : null
  return (
    <div className={styles.failure}>
      <CircleAlert size={17} />
      <div>
        <p>{error.message || `The target responded with ${run.response_status}.`}</p>
        {cause && (
          <p>
            <bdi>{showControls(cause)}</bdi>
          </p>
        )}
        <p className={styles.code}>
          <a href={`/api/problems/${error.code}`} target="_blank" rel="noreferrer">
            <code>{error.code}</code>
          </a>
        </p>
      </div>
    </div>
  )
}

type MessageProps = { label: 'request' | 'response'; run: RunDetail }

function Message({ label, run }: MessageProps) {
  const message = run[label]
  if (!message) return <p className={styles.note}>No response</p>
  const line = 'status' in message ? `HTTP status ${message.status}` : `${message.method} ${message.url}`
  const rows = Object.entries(message.headers).flatMap(([name, value]) =>
    [value].flat().map(one => [name, one] as const),
  )
  return (
    <div className={styles.message}>
      <p className={styles.line}>
        <code>{line}</code>
      </p>
      <BodyView message={message} label={`${label} body`} fileName={`${run.id}-${label}`} />
      <h3>
        Headers <span className={styles.count}>{rows.length}</span>
      </h3>
      <table className={styles.headers} aria-label={`Headers of the ${label}`}>
        <tbody>
          {rows.map(([name, value], index) => (
            <tr key={index}>
              <th scope="row">{showControls(name)}</th>
              <td>
                {label === 'response' && isCredentialHeader(name) ? (
                  <MaskedValue name={name} value={value} />
                ) : (
                  <bdi>{showControls(value)}</bdi>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

// The "tokens" in the rate limit headers of AI providers are not secrets.
const credential = /cookie|authorization|credential|password|secret|session|api-?key|token(?!s)/i

/** Returns whether the value of a header may let its holder act for another, e.g. a session or a token. */
export function isCredentialHeader(name: string): boolean {
  return credential.test(name)
}

/** A credential, hidden until a user shows it who may read the secrets of the workspace. */
function MaskedValue({ name, value }: { name: string; value: string }) {
  const [isShown, setIsShown] = useState(false)
  const refusal = useRefusal('secret.read')
  if (isShown) return <bdi>{showControls(value)}</bdi>
  return (
    <>
      ••••••••{' '}
      <Button size="small" aria-label={`Show ${name}`} refusal={refusal} onClick={() => setIsShown(true)}>
        Show
      </Button>
    </>
  )
}
