import { type ReactNode, useState } from 'react'
import { type Suspendable, setSuspension } from '../../api/operator.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'

type SuspendButtonProps = { kind: Suspendable; id: string; name: string; at: string | null }

/** Suspends or resumes a user, an organization or a workspace, after a confirmation. */
export function SuspendButton({ kind, id, name, at }: SuspendButtonProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const [reason, setReason] = useState('')
  const action = at === null ? 'Suspend' : 'Resume'
  return (
    <>
      <Button kind={at === null ? 'danger' : 'secondary'} onClick={() => setIsOpen(true)}>
        {action}
      </Button>
      <ConfirmChange
        of={isOpen || null}
        onClose={() => setIsOpen(false)}
        title={() => `${action} ${name}?`}
        description={
          at === null
            ? 'Calls stop within a second, and API requests are rejected. Nothing is deleted: tasks wait.'
            : 'Tasks that are due start at once.'
        }
        action={action}
        isDangerous={false}
        run={() => setSuspension(kind, id, at === null, reason.trim())}
        onDone={() => setReason('')}
        affects={[['tenant'], ['tenants'], ['operator-log']]}
        done={() => (at === null ? `${name} is suspended` : `${name} is active again`)}
      >
        <Field label="Reason (only in the operator log)">
          <TextInput name="reason" value={reason} maxLength={500} onChange={event => setReason(event.target.value)} />
        </Field>
      </ConfirmChange>
    </>
  )
}
