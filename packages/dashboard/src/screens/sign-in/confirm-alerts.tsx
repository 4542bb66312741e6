import { type ReactNode, useState } from 'react'
import { useLocation } from 'react-router'
import { confirmAlerts } from '../../api/workspace-settings.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'

/** Asks a recipient whether to send alerts, with a button, because mail scanners open every link. */
export function ConfirmAlerts(): ReactNode {
  const token = useLocation().hash.slice(1)
  const [isDone, setIsDone] = useState(false)
  const form = useForm({ read: () => ({ token }), submit: confirmAlerts, onDone: () => setIsDone(true) })
  if (isDone) {
    return (
      <PlainLayout title="You will receive alerts">
        <p role="status">You can close this page.</p>
      </PlainLayout>
    )
  }
  return (
    <PlainLayout
      title="Receive alerts?"
      description="A user of Belfry wants to send alerts about failed webhooks to your email address."
    >
      <Form form={form} action="Receive alerts" isWide />
    </PlainLayout>
  )
}
