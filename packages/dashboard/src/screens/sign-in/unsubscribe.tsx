import { type ReactNode, useState } from 'react'
import { useLocation } from 'react-router'
import { unsubscribe } from '../../api/workspace-settings.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'

/** Ends the alerts to an address, with a button, because mail scanners open every link. */
export function Unsubscribe(): ReactNode {
  const token = useLocation().hash.slice(1)
  const [isDone, setIsDone] = useState(false)
  const form = useForm({ read: () => token, submit: unsubscribe, onDone: () => setIsDone(true) })
  if (isDone) {
    return (
      <PlainLayout title="You are unsubscribed">
        <p role="status">Belfry sends no more alerts to your email address. You can close this page.</p>
      </PlainLayout>
    )
  }
  return (
    <PlainLayout
      title="Unsubscribe from alerts?"
      description="Your email address will receive no more alerts, from any workspace. Mails about your account are not affected."
    >
      <Form form={form} action="Unsubscribe" isWide />
    </PlainLayout>
  )
}
