import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Link } from '../../ui/button.tsx'
import { useToast } from '../../ui/toast.tsx'

/** Asks a recipient whether to send alerts, with a button, because mail scanners open every link. */
export function ConfirmAlerts(): ReactNode {
  const token = useLocation().hash.slice(1)
  const [isDone, setIsDone] = useState(false)
  const form = useForm({
    read: () => ({ token }),
    submit: body => call('confirmAlerts', { body }),
    onDone: () => setIsDone(true),
  })
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

/** Ends the alerts to an address, with a button, because mail scanners open every link. */
export function Unsubscribe(): ReactNode {
  const token = useLocation().hash.slice(1)
  const [isDone, setIsDone] = useState(false)
  const form = useForm({
    read: () => ({ token }),
    submit: query => call('unsubscribe', { query }),
    onDone: () => setIsDone(true),
  })
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

/** Confirms an email address with a button, because mail scanners open every link. */
export function ConfirmEmail(): ReactNode {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const client = useQueryClient()
  const toast = useToast()
  const form = useForm({
    read: () => ({ token }),
    submit: body => call('confirmEmail', { body }),
    async onDone() {
      toast('Email address confirmed.')
      client.removeQueries(queryOf('getMe'))
      await navigate('/', { replace: true })
    },
  })
  return (
    <PlainLayout
      title="Confirm your email address"
      description="If you created the account in another browser, reset your password afterwards."
      foot={<Link to="/">Go to dashboard</Link>}
    >
      <Form form={form} action="Confirm" isWide />
    </PlainLayout>
  )
}
