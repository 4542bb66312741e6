import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Link } from '../../ui/button.tsx'

export function ConfirmAlerts() {
  return (
    <MailAction
      title="Receive alerts?"
      description="A user of Belfry wants to send alerts about failed webhooks to your email address."
      action="Receive alerts"
      submit={body => call('confirmAlerts', { body })}
      done="You will receive alerts"
      next="You can close this page."
    />
  )
}

export function Unsubscribe() {
  return (
    <MailAction
      title="Unsubscribe from alerts?"
      description="Your email address will receive no more alerts, from any workspace. Mails about your account are not affected."
      action="Unsubscribe"
      submit={query => call('unsubscribe', { query })}
      done="You are unsubscribed"
      next="Belfry sends no more alerts to your email address. You can close this page."
    />
  )
}

type MailActionProps = {
  title: string
  description: string
  action: string
  submit(link: { token: string }): Promise<unknown>
  /** The title and the text afterwards. */
  done: string
  next: string
}

/** Does what the link of a mail is for, with a button, because mail scanners open every link. */
function MailAction({ title, description, action, submit, done, next }: MailActionProps) {
  const token = useLocation().hash.slice(1)
  const [isDone, setIsDone] = useState(false)
  return (
    <PlainLayout title={isDone ? done : title} description={isDone ? undefined : description}>
      {isDone ? (
        <p role="status">{next}</p>
      ) : (
        <Form read={() => ({ token })} submit={submit} onDone={() => setIsDone(true)} action={action} isWide />
      )}
    </PlainLayout>
  )
}

/** Confirms an email address with a button, because mail scanners open every link. */
export function ConfirmEmail() {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const client = useQueryClient()
  return (
    <PlainLayout
      title="Confirm your email address"
      description="If you created the account in another browser, reset your password afterwards."
      foot={<Link to="/">Go to dashboard</Link>}
    >
      <Form
        read={() => ({ token })}
        submit={body => call('confirmEmail', { body })}
        onDone={async () => {
          client.removeQueries(queryOf('getMe'))
          await navigate('/', { replace: true })
        }}
        done="Email address confirmed."
        action="Confirm"
        isWide
      />
    </PlainLayout>
  )
}
