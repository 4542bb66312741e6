{{- define "belfry.name" -}}
{{- if contains "belfry" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-belfry" (.Release.Name | trunc 33 | trimSuffix "-") }}{{ end }}
{{- end }}

{{/* Labels that select the pods of this release. */}}
{{- define "belfry.selector" -}}
app.kubernetes.io/name: belfry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "belfry.labels" -}}
{{ include "belfry.selector" . }}
app.kubernetes.io/part-of: belfry
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Takes the root, and what follows the name of the release, or "". The labels come last, for a template that adds to them. */}}
{{- define "belfry.metadata" -}}
{{- $root := first . -}}
name: {{ include "belfry.name" $root }}{{ with last . }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "belfry.labels" $root | nindent 2 }}
{{- end }}

{{/* Takes a list: the root, and the name of the image. */}}
{{- define "belfry.image" -}}
{{- $root := first . -}}
{{- printf "%sbelfry-%s:%s" $root.Values.image.registry (last .) ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
{{- end }}
