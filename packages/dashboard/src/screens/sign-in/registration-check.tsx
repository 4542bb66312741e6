import { type ReactNode, useEffect, useState } from 'react'
import { Field, useFieldErrors } from '../../ui/field.tsx'

/** A page of the operator, such as a captcha, that posts `{ check_token }` to this window. The form sends it as a field. */
export function RegistrationCheck({ url }: { url: string }): ReactNode {
  const [token, setToken] = useState('')
  const { check_token: error } = useFieldErrors()
  useEffect(() => {
    const { origin } = new URL(url)
    const receive = ({ origin: from, data }: MessageEvent) => {
      if (from === origin && typeof data?.check_token === 'string') setToken(data.check_token)
    }
    window.addEventListener('message', receive)
    return () => window.removeEventListener('message', receive)
  }, [url])
  return (
    <>
      <Field label="Check" error={error}>
        <iframe
          src={url}
          title="Check"
          width="100%"
          height="90"
          sandbox="allow-scripts allow-same-origin allow-forms"
        />
      </Field>
      <input type="hidden" name="check_token" value={token} readOnly />
    </>
  )
}
