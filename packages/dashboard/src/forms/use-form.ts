import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { ApiProblem, messageOf } from '../api/api-problem.ts'

export type FieldErrors = Readonly<Record<string, string>>

type FormOptions<Body, Answer> = {
  /** Makes the body out of the form's fields. */
  read(fields: (name: string) => string, form: FormData): Body
  /** What can be said before sending, by field. The API has the last word, in the same places. */
  check?(body: Body): FieldErrors
  submit(body: Body): Promise<Answer>
  onDone?(answer: Answer, body: Body): unknown
  /** A 401 is about what was typed, not about the session. */
  isSignIn?: boolean
}

export type Form = {
  /** For the `<form>`. */
  onSubmit(event: FormEvent<HTMLFormElement>): void
  /** What is wrong with each field; give it to the `Field` of the same name. */
  errors: FieldErrors
  /** What is wrong as a whole; show it with `FormProblem`. */
  problem: string | null
  isPending: boolean
}

/** A form that is sent to the API: its fields are plain, its errors stand at the fields, and the first bad one gets the focus. */
export function useForm<Body, Answer>(options: FormOptions<Body, Answer>): Form {
  const [errors, setErrors] = useState<FieldErrors>({})
  const [problem, setProblem] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)

  const refuse = (fields: FieldErrors, whole: string | null) => {
    const known = new Set([...(form.current?.elements ?? [])].map(element => element.getAttribute('name')))
    const homeless = Object.entries(fields).filter(([path]) => !known.has(path))
    setErrors(fields)
    setProblem(homeless.length > 0 ? homeless.map(([, message]) => message).join(' ') : whole)
    const first = [...(form.current?.elements ?? [])].find(element => (element.getAttribute('name') ?? '') in fields)
    if (first instanceof HTMLElement) first.focus()
  }

  const { mutate, isPending } = useMutation({
    mutationFn: options.submit,
    meta: { isSignIn: options.isSignIn ?? false },
    onSuccess: async (answer, body) => await options.onDone?.(answer, body),
    onError: error => {
      const fields = error instanceof ApiProblem ? error.fields : {}
      refuse(fields, Object.keys(fields).length > 0 ? null : messageOf(error))
    },
  })

  return {
    errors,
    problem,
    isPending,
    onSubmit(event) {
      event.preventDefault()
      if (isPending) return
      form.current = event.currentTarget
      const data = new FormData(event.currentTarget)
      const body = options.read(name => String(data.get(name) ?? ''), data)
      const found = options.check?.(body) ?? {}
      setErrors({})
      setProblem(null)
      if (Object.keys(found).length > 0) refuse(found, null)
      else mutate(body)
    },
  }
}
