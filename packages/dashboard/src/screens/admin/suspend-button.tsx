import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type Suspendable, setSuspension } from '../../api/operator.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'

type SuspendButtonProps = { kind: Suspendable; id: string; name: string; at: string | null }

/** Suspends or resumes a user, an organization or a workspace, after a confirmation. */
export function SuspendButton({ kind, id, name, at }: SuspendButtonProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const [reason, setReason] = useState('')
  const client = useQueryClient()
  const toast = useToast()
  const action = at === null ? 'Suspend' : 'Resume'
  const change = useMutation({
    mutationFn: () => setSuspension(kind, id, at === null, reason.trim()),
    async onSuccess() {
      setIsOpen(false)
      setReason('')
      toast(at === null ? `${name} is suspended` : `${name} is active again`)
      await Promise.all(['tenant', 'tenants', 'operator-log'].map(key => client.invalidateQueries({ queryKey: [key] })))
    },
  })
  return (
    <>
      <Button kind={at === null ? 'danger' : 'secondary'} onClick={() => setIsOpen(true)}>
        {action}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title={`${action} ${name}?`}
        description={
          at === null
            ? 'Calls stop within a second, and API requests are rejected. Nothing is deleted: tasks wait.'
            : 'Tasks that are due start at once.'
        }
        action={action}
        isPending={change.isPending}
        onConfirm={() => change.mutate()}
      >
        <Field label="Reason (only in the operator log)">
          <TextInput name="reason" value={reason} maxLength={500} onChange={event => setReason(event.target.value)} />
        </Field>
        {change.error && <Problem error={change.error} />}
      </ConfirmDialog>
    </>
  )
}
