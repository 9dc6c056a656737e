{{- define "tempoclaw.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "tempoclaw.labels" -}}
app.kubernetes.io/name: tempoclaw
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tempoclaw.selector" -}}
app.kubernetes.io/name: tempoclaw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* What the pods of all processes have. The job of the setup runs before the claim and the settings exist. */}}
{{- define "tempoclaw.pod" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: settings
    configMap: { name: {{ include "tempoclaw.name" .root }}{{ if .isSetup }}-setup{{ end }} }
  - name: state
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  - name: workspaces
    {{- if and .root.Values.workspaces.enabled (not .isSetup) }}
    persistentVolumeClaim: { claimName: {{ .root.Values.workspaces.existingClaim | default (printf "%s-workspaces" (include "tempoclaw.name" .root)) }} }
    {{- else }}
    emptyDir: {}
    {{- end }}
{{- end }}

{{- define "tempoclaw.container" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .args }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - secretRef: { name: {{ required "secret: the name of a secret with DATABASE_URL and TEMPOCLAW_ENCRYPTION_KEY" .root.Values.secret }} }
env:
  - { name: HOME, value: /state }
  - { name: TEMPORAL_ADDRESS, value: {{ required "temporal.address: the address of Temporal's frontend" .root.Values.temporal.address | quote }} }
  - { name: TEMPORAL_NAMESPACE, value: {{ .root.Values.temporal.namespace | quote }} }
  {{- with .root.Values.temporal.uiUrl }}
  - { name: TEMPOCLAW_TEMPORAL_UI_URL, value: {{ . | quote }} }
  {{- end }}
  {{- with .root.Values.api.ingress.host }}
  - { name: TEMPOCLAW_PUBLIC_URL, value: "https://{{ . }}" }
  {{- end }}
  - { name: TEMPOCLAW_CONFIG, value: /etc/tempoclaw/tempoclaw.yaml }
  - { name: TEMPOCLAW_HOST, value: 0.0.0.0 }
  - { name: TEMPOCLAW_PORT, value: "7400" }
  {{- with .root.Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts:
  - { name: settings, mountPath: /etc/tempoclaw, readOnly: true }
  - { name: state, mountPath: /state }
  - { name: tmp, mountPath: /tmp }
  - { name: workspaces, mountPath: /workspaces }
{{- end }}
