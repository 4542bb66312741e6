import { type ReactNode, useState } from 'react'
import { forgotPassword } from '../../api/session.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'

export function ForgotPassword(): ReactNode {
  const [sentTo, setSentTo] = useState<string | null>(null)
  const form = useForm({
    read: field => ({ email: field('email').trim() }),
    check: body => ({ ...(body.email === '' ? { email: 'Type in your e-mail address.' } : {}) }),
    submit: forgotPassword,
    onDone: (_answer, body) => setSentTo(body.email),
  })
  const foot = <Link to={paths.signIn()}>Back to signing in</Link>
  if (sentTo !== null) {
    return (
      <PlainLayout title="Look into your mail" foot={foot}>
        <p role="status">
          If {sentTo} has an account, a link is on its way there. It is good for one hour and for one use.
        </p>
      </PlainLayout>
    )
  }
  return (
    <PlainLayout title="Forgot your password?" description="We send you a link to choose another." foot={foot}>
      <Form form={form} action="Send the link" isWide>
        <Field label="E-mail" error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="username" autoFocus />
        </Field>
      </Form>
    </PlainLayout>
  )
}
