import type { AuditStream } from '@belfry/contract/audit-stream'
import { useQuery } from '@tanstack/react-query'
import { Radio } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  auditStreamQuery,
  deleteAuditStream,
  putAuditStream,
  rotateAuditStreamSecret,
} from '../../api/organizations.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { HiddenSecret } from './hidden-secret.tsx'

/** The button that opens the settings of the audit stream, and its dialog. */
export function AuditStreamButton(): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  return (
    <>
      <Button
        icon={<Radio size={15} aria-hidden="true" />}
        refusal={useRefusal('audit_log.stream')}
        onClick={() => setIsOpen(true)}
      >
        Stream
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title="Stream the audit log"
        description="New entries are sent to a webhook as JSON lines, and retried until it receives them."
      >
        <StreamSettings onClose={close} />
      </Dialog>
    </>
  )
}

function StreamSettings({ onClose }: { onClose(): void }): ReactNode {
  const { organization } = useOrganization()
  const { data: stream, error, refetch } = useQuery(auditStreamQuery(organization.id))
  const [asked, setAsked] = useState<'rotate' | 'remove' | null>(null)
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!stream) return null
  const isOn = stream.target !== null
  const confirmed = { onClose: () => setAsked(null), affects: [['audit-stream', organization.id]] }
  return (
    <>
      {isOn && <StreamState stream={stream} />}
      <UrlForm
        key={stream.updated_at}
        stream={stream}
        onClose={onClose}
        more={
          isOn && (
            <>
              <Button onClick={() => setAsked('rotate')}>Rotate secret</Button>
              <Button kind="danger" onClick={() => setAsked('remove')}>
                Stop stream
              </Button>
            </>
          )
        }
      />
      <ConfirmChange
        {...confirmed}
        of={asked === 'rotate' || null}
        title={() => 'Rotate the signing secret?'}
        description="Messages are signed with a new secret. For 24 hours they are also signed with the current one."
        action="Rotate"
        isDangerous={false}
        run={() => rotateAuditStreamSecret(organization.id)}
        done={() => 'Signing secret rotated'}
      />
      <ConfirmChange
        {...confirmed}
        of={asked === 'remove' || null}
        title={() => 'Stop the audit stream?'}
        description="The webhook receives no more entries, and those that wait are dropped. The audit log keeps them."
        action="Stop stream"
        run={() => deleteAuditStream(organization.id)}
        done={() => 'Audit stream stopped'}
      />
    </>
  )
}

const maxCounted = 10_000

function StreamState({ stream: { target, signing_secrets, waiting, last_error } }: { stream: AuditStream }): ReactNode {
  const [current, previous] = signing_secrets
  const count = waiting > maxCounted ? 'More than 10,000 entries' : `${waiting} ${waiting === 1 ? 'entry' : 'entries'}`
  return (
    <DefinitionList
      rows={[
        ['Receiver', target],
        ['Waiting', count],
        ['Latest error', last_error],
        ['Signing secret', current && <HiddenSecret text={current.secret} />],
        [
          'Previous secret',
          previous?.expires_at && (
            <>
              <HiddenSecret text={previous.secret} /> expires <RelativeTime at={previous.expires_at} />
            </>
          ),
        ],
      ]}
    />
  )
}

type UrlFormProps = { stream: AuditStream; onClose(): void; more: ReactNode }

function UrlForm({ stream, onClose, more }: UrlFormProps): ReactNode {
  const { organization } = useOrganization()
  const form = useForm({
    read: field => ({ url: field('url').trim() }),
    check: ({ url }) => ({ ...(url === '' ? { url: 'Enter the URL.' } : {}) }),
    submit: body => putAuditStream(organization.id, body),
    done: ({ target }) => `The audit log is streamed to ${target}`,
    affects: [['audit-stream', organization.id]],
  })
  return (
    <Form
      form={form}
      action={stream.target === null ? 'Start stream' : 'Change URL'}
      more={more || <Button onClick={onClose}>Cancel</Button>}
    >
      <Field
        label={stream.target === null ? 'URL' : 'New URL'}
        hint="An https URL that receives POST requests. It is stored encrypted and not shown again."
        error={form.errors.url}
      >
        <TextInput name="url" type="url" isMono autoComplete="off" placeholder="https://logs.example.com/belfry" />
      </Field>
    </Form>
  )
}
