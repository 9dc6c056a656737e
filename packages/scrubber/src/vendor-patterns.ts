/**
 * Patterns of the keys and tokens that vendors issue with a prefix of their own. Every pattern starts at a boundary or a
 * rare literal and has no nested repetition, so that a scan stays linear.
 */
import { type Needed, neededText } from './needed-text.ts';

export interface SecretPattern {
  readonly kind: string;
  /** It starts with a vendor's prefix; `xxxx` after that is a placeholder. */
  readonly isVendors?: true;
  /** Global; the whole match is the secret. */
  readonly pattern: RegExp;
  /** Text that must occur for the pattern to match at all; a cheap way to skip it. */
  readonly needs: readonly Needed[];
}

/** Not preceded by a letter or digit: `risk-…` is not `sk-…`. */
const START = '(?<![A-Za-z0-9])';

function shape(kind: string, source: string, ...needs: readonly string[]): SecretPattern {
  return { ...row(kind, new RegExp(START + source, 'g'), needs), isVendors: true };
}

export function row(kind: string, pattern: RegExp, needs: readonly string[]): SecretPattern {
  return { kind, pattern, needs: needs.map(neededText) };
}

/** Requires a digit or capital soon after the prefix, to exclude kebab-case words. */
const MIXED = '(?=[\\w-]{0,60}[0-9A-Z])';

export const VENDORS: readonly SecretPattern[] = [
  shape('anthropic', `sk-ant-[\\w-]{20,}`, 'sk-ant-'),
  // In the second alternative, such a long word is not part of a kebab-case name.
  shape('openai', `sk-(?:${MIXED}[\\w-]{20,}|[A-Za-z0-9]{20,}[\\w-]*)`, 'sk-'),
  shape('github', `gh[pousr]_[A-Za-z0-9]{30,}`, 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'),
  shape('github', `github_pat_[A-Za-z0-9_]{20,}`, 'github_pat_'),
  shape('gitlab', `gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas|ffct)-[\\w-]{18,}(?:\\.[\\w-]+)*`, 'gl'),
  shape('aws', `(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])`, 'AKIA', 'ASIA', 'ABIA', 'ACCA'),
  shape('slack', `xox[a-z](?:-(?=[\\w-]{0,60}\\d)(?:[\\w-]|%2[BbFf]|%3[Dd]){8,}|\\.[\\w.-]{10,})`, 'xox'),
  shape('slack', `xapp-\\d-[\\w-]{10,}`, 'xapp-'),
  shape(
    'slack',
    `https://hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/[\\w/+-]{16,}`,
    'hooks.slack',
  ),
  shape(
    'discord',
    `https://(?:\\w{1,10}\\.)?discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{5,}/[\\w-]{20,}`,
    '/webhooks/',
  ),
  shape('discord', `[MNO][\\w-]{22,30}\\.[\\w-]{6,7}\\.[\\w-]{25,}`, '.'),
  shape('teams', `https://[\\w-]{1,63}\\.webhook\\.office\\.com/[\\w@/-]{20,}`, 'webhook.office.com'),
  shape('google', `AIza[\\w-]{30,}`, 'AIza'),
  shape('google', `ya29\\.[\\w.-]{20,}`, 'ya29.'),
  shape('google', `GOCSPX-[\\w-]{20,}`, 'GOCSPX-'),
  shape('google', `1//0[\\w-]{30,}`, '1//0'),
  shape('stripe', `[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`, 'k_live_', 'k_test_', 'k_prod_'),
  shape('stripe', `whsec_[A-Za-z0-9+/=]{20,}`, 'whsec_'),
  shape('sendgrid', `SG\\.[\\w-]{16,}\\.[\\w-]{16,}`, 'SG.'),
  shape('mailgun', `key-[0-9a-f]{32}(?![0-9a-f])`, 'key-'),
  shape('mailchimp', `[0-9a-f]{32}-us\\d{1,2}(?!\\w)`, '-us'),
  shape('npm', `npm_[A-Za-z0-9]{30,}`, 'npm_'),
  shape('pypi', `pypi-[\\w-]{30,}`, 'pypi-'),
  shape('rubygems', `rubygems_[0-9a-f]{40,}`, 'rubygems_'),
  shape('nuget', `oy2[a-z0-9]{43}(?![a-z0-9])`, 'oy2'),
  shape('huggingface', `(?:hf|api_org)_[A-Za-z0-9]{28,}`, 'hf_', 'api_org_'),
  shape('replicate', `r8_[A-Za-z0-9]{30,}`, 'r8_'),
  shape('groq', `gsk_[A-Za-z0-9]{30,}`, 'gsk_'),
  shape('xai', `xai-[A-Za-z0-9]{30,}`, 'xai-'),
  shape('perplexity', `pplx-[A-Za-z0-9]{30,}`, 'pplx-'),
  shape('tavily', `tvly-[\\w-]{20,}`, 'tvly-'),
  shape('firecrawl', `fc-[0-9a-f]{32}(?![0-9a-f])`, 'fc-'),
  shape('langsmith', `lsv2_(?:pt|sk)_\\w{20,}`, 'lsv2_'),
  shape('digitalocean', `do[opr]_v1_[0-9a-f]{40,}`, '_v1_'),
  shape('heroku', `HRKU-[\\w-]{20,}`, 'HRKU-'),
  shape('terraform', `[A-Za-z0-9]{8,}\\.atlasv1\\.[\\w-]{30,}`, '.atlasv1.'),
  shape('vault', `hv[sbr]\\.[\\w-]{20,}`, 'hvs.', 'hvb.', 'hvr.'),
  shape('notion', `ntn_[A-Za-z0-9]{30,}`, 'ntn_'),
  shape('notion', `secret_[A-Za-z0-9]{40,}`, 'secret_'),
  shape('databricks', `dapi[0-9a-f]{30,}(?:-\\d)?`, 'dapi'),
  shape('shopify', `shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{30,}`, 'shp'),
  shape('grafana', `gl(?:sa|c)_[\\w+/=]{30,}`, 'glsa_', 'glc_'),
  shape('linear', `lin_(?:api|oauth)_[A-Za-z0-9]{30,}`, 'lin_'),
  shape('figma', `fig[dopur]{1,2}_[\\w-]{30,}`, 'fig'),
  shape('postman', `PMAK-[0-9a-f-]{40,}`, 'PMAK-'),
  shape('docker', `dckr_(?:pat|oat)_[\\w-]{20,}`, 'dckr_'),
  shape('twilio', `SK[0-9a-f]{32}(?![0-9a-f])`, 'SK'),
  shape('square', `(?:sq0[a-z]{3}-[\\w-]{20,}|EAAA[\\w-]{56,})`, 'sq0', 'EAAA'),
  shape('facebook', `EAA(?:[CB][A-Za-z0-9]{60,}|[A-Za-z][A-Za-z0-9]{90,})`, 'EAA'),
  shape('netlify', `nfp_[A-Za-z0-9]{30,}`, 'nfp_'),
  shape('sentry', `sntry[su]_[\\w+/=-]{30,}`, 'sntry'),
  shape('newrelic', `NR(?:AK|II|IQ|JS)-[\\w-]{20,}`, 'NR'),
  shape('tailscale', `tskey-[a-z]{2,10}-[\\w-]{16,}`, 'tskey-'),
  shape(
    'onepassword',
    `(?:ops_eyJ[\\w+/=-]{40,}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4})`,
    'ops_eyJ',
    'A3-',
  ),
  shape('doppler', `dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{30,}`, 'dp.'),
  shape('planetscale', `pscale_(?:tkn|pw|oauth)_[\\w.=-]{30,}`, 'pscale_'),
  shape('supabase', `sb(?:p_[0-9a-f]{40}|_secret_[\\w-]{20,})`, 'sbp_', 'sb_secret_'),
  shape('fly', `(?:(?:FlyV1 )?fm[12][\\w]?_[\\w+/=,-]{30,}|fo1_[\\w-]{30,})`, 'fm1', 'fm2', 'fo1_'),
  shape('atlassian', `AT(?:ATT|CTT|BB)[\\w=+/-]{24,}`, 'ATATT', 'ATCTT', 'ATBB'),
  shape('airtable', `pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}`, 'pat'),
  shape('contentful', `CFPAT-[\\w-]{30,}`, 'CFPAT-'),
  shape('posthog', `ph[xc]_[A-Za-z0-9]{30,}`, 'phx_', 'phc_'),
  shape('artifactory', `(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})`, 'AKCp', 'cmVmdGtu'),
  shape('alibaba', `LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])`, 'LTAI'),
  shape('buildkite', `bk(?:ua|aj|ct)_[A-Za-z0-9]{30,}`, 'bk'),
  shape('circleci', `CCI(?:PAT|PRJ)_[\\w-]{30,}`, 'CCIP'),
  shape('cloudflare', `v1\\.0-[0-9a-f]{20,}-[0-9a-f]{20,}`, 'v1.0-'),
  shape('age', `AGE-SECRET-KEY-1[0-9A-Z]{40,}`, 'AGE-SECRET-KEY-1'),
  shape('azure', `[A-Za-z0-9_~.-]{3}\\dQ~[\\w~.-]{28,40}`, 'Q~'),
  shape('hubspot', `pat-(?:na|eu|ap)\\d-[0-9a-f-]{36}`, 'pat-'),
  shape('pulumi', `pul-[0-9a-f]{40}`, 'pul-'),
  shape('resend', `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}`, 're_'),
  shape('nvidia', `nvapi-[\\w-]{40,}`, 'nvapi-'),
  shape('razorpay', `rzp_(?:live|test)_[A-Za-z0-9]{14,}`, 'rzp_'),
  shape('typeform', `tfp_[\\w.-]{40,}`, 'tfp_'),
  shape('elevenlabs', `sk_[0-9a-f]{48}(?![0-9a-f])`, 'sk_'),
  shape('jina', `jina_[A-Za-z0-9]{40,}`, 'jina_'),
  shape('e2b', `e2b_[0-9a-f]{40}`, 'e2b_'),
  shape('plaid', `access-(?:sandbox|development|production)-[0-9a-f-]{36}`, 'access-'),
  shape('flutterwave', `FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}`, 'FLWSECK'),
  shape('dropbox', `sl\\.[\\w-]{100,}`, 'sl.'),
  shape('goclaw', `goclaw_[0-9a-f]{32}(?![0-9a-f])`, 'goclaw_'),
  shape('tempoclaw', `tc_[0-9A-Za-z]{32,128}`, 'tc_'),
  shape('bedrock', `ABSK[A-Za-z0-9+/]{40,}={0,2}`, 'ABSK'),
  shape('bedrock', `bedrock-api-key-[A-Za-z0-9+/=]{20,}`, 'bedrock-api-key-'),
  shape('brevo', `x(?:key|smtp)sib-[\\w-]{40,}`, 'xkeysib-', 'xsmtpsib-'),
  shape('dynatrace', `dt0[a-z]\\d{2}\\.[A-Z0-9]{8,24}\\.[A-Z0-9]{32,}`, 'dt0'),
  shape('easypost', `EZ[AT]K[A-Za-z0-9]{50,}`, 'EZAK', 'EZTK'),
  shape('frameio', `fio-u-[\\w-]{40,}`, 'fio-u-'),
  shape('prefect', `pnu_[A-Za-z0-9]{30,}`, 'pnu_'),
  shape('readme', `rdme_[a-z0-9]{40,}`, 'rdme_'),
  shape('scalingo', `tk-us-[\\w-]{40,}`, 'tk-us-'),
  shape('shippo', `shippo_(?:live|test)_[0-9a-f]{40}`, 'shippo_'),
  shape('duffel', `duffel_(?:live|test)_[\\w=-]{30,}`, 'duffel_'),
  shape('yandex', `AQVN[\\w-]{35,}`, 'AQVN'),
  shape('yandex', `t1\\.[A-Z0-9a-z_-]{16,}={0,2}\\.[\\w-]{80,}={0,2}`, 't1.'),
  shape('launchdarkly', `sdk-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`, 'sdk-'),
  shape('clojars', `CLOJARS_[0-9a-z]{40,}`, 'CLOJARS_'),
  shape('adobe', `p8e-[0-9A-Za-z]{32}(?![0-9A-Za-z])`, 'p8e-'),
  shape('grafana', `eyJrIjoi[A-Za-z0-9+/]{40,}={0,2}`, 'eyJrIjoi'),
  shape('openshift', `sha256~[\\w-]{43}`, 'sha256~'),
  shape('together', `tgp_v1_[\\w-]{30,}`, 'tgp_v1_'),
  shape('cerebras', `csk-[a-z0-9]{40,}`, 'csk-'),
  shape('pinecone', `pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}`, 'pcsk_'),
  shape(
    'vercel',
    `(?:vc[pikar]_[A-Za-z0-9]{40,}|vercel_blob_rw_[A-Za-z0-9_]{30,})`,
    'vcp_',
    'vci_',
    'vca_',
    'vcr_',
    'vck_',
    'vercel_blob_rw_',
  ),
  shape('neon', `napi_[a-z0-9]{40,}`, 'napi_'),
  shape('render', `rnd_(?=[A-Za-z0-9]{0,30}\\d)[A-Za-z0-9]{28,}`, 'rnd_'),
  shape('google', `AQ\\.Ab[\\w-]{40,}`, 'AQ.Ab'),
  shape('maxmind', `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`, '_mmk'),
  shape('sonar', `sq[pua]_[0-9a-f]{40}(?![0-9a-f])`, 'sqp_', 'squ_', 'sqa_'),
  shape('infracost', `ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])`, 'ico-'),
  shape('tencent', `AKID[A-Za-z0-9]{32,40}(?![A-Za-z0-9])`, 'AKID'),
  shape('paypal', `access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}`, 'access_token$'),
  shape('fireworks', `fw_(?=[A-Za-z]{0,30}\\d)[A-Za-z0-9]{22,}`, 'fw_'),
  shape('sourcegraph', `sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}(?![0-9a-f])`, 'sgp_'),
  shape('settlemint', `sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,}`, 'sm_'),
  shape('octopus', `API-(?=[A-Z]{0,25}\\d)[A-Z0-9]{26}(?![A-Z0-9])`, 'API-'),
  shape('harness', `[ps]at\\.[\\w-]{22}\\.[0-9a-f]{24}\\.[A-Za-z0-9]{20}`, 'pat.', 'sat.'),
  shape('defined', `dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}`, 'dnkey-'),
  shape('lob', `(?:live|test)_(?:pub_)?[0-9a-f]{31,35}(?![0-9a-f])`, 'live_', 'test_'),
  shape('crates', `cio(?=[A-Za-z]{0,31}\\d)[A-Za-z0-9]{32}(?![A-Za-z0-9])`, 'cio'),
  shape('mapbox', `sk\\.eyJ[\\w-]{20,}\\.[\\w-]{10,}`, 'sk.eyJ'),
  shape('gitlab', `GR1348941[\\w-]{20,}`, 'GR1348941'),
  shape('firebase', `[\\w-]{7,24}:APA91b[\\w-]{100,}`, ':APA91b'),
  shape('honeycomb', `hc[a-z]{1,2}[ik]k_[a-z0-9]{50,}`, 'hc'),
  shape('newrelic', `[0-9a-f]{32,36}NRAL(?![A-Za-z0-9])`, 'NRAL'),
  shape('clickup', `pk_\\d{5,12}_[A-Z0-9]{32}(?![A-Z0-9])`, 'pk_'),
  shape('launchdarkly', `api-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\\w-])`, 'api-'),
  shape('mandrill', `md-(?=[A-Za-z_-]{0,21}\\d)(?=[\\da-z_-]{0,21}[A-Z])[\\w-]{22}(?![\\w-])`, 'md-'),
  shape('intercom', `dG9rOj[A-Za-z0-9+/]{40,}={0,2}`, 'dG9rOj'),
  shape('infisical', `st\\.[0-9a-f-]{24,36}\\.[0-9a-f]{32,64}\\.[0-9a-f]{32,64}`, 'st.'),
  shape('bitcoin', `[xyz]prv[A-Za-z0-9]{100,}`, 'prv'),
  shape('zapier', `https://hooks\\.zapier\\.com/hooks/catch/\\d{3,}/\\w{5,}`, 'hooks.zapier'),
  shape('ifttt', `https://maker\\.ifttt\\.com/[\\w/{}-]{1,128}/key/[\\w-]{20,}`, 'maker.ifttt'),
];
