//! Which programs take secrets, and behind which flags.

/// What of a flag's value is the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlagForm {
    Whole,
    /// `user:X`
    AfterColon,
    /// `user%X`
    AfterPercent,
    /// `user,X`
    AfterComma,
    /// `user/X`
    AfterSlash,
    /// `pass:X`
    Source,
    /// `name=X; name=Y`
    Cookies,
}

#[derive(Debug)]
pub(super) struct SecretFlag {
    pub(super) name: &'static str,
    pub(super) form: FlagForm,
    /// Whether the value may follow as a word of its own: `-p X`.
    pub(super) apart: bool,
    /// Whether the value may follow without a blank: `-pX`.
    pub(super) attached: bool,
    /// Whether other letters may stand before it: `-sSu`.
    pub(super) joins: bool,
    /// Only where this word stands before.
    pub(super) needs: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) flags: &'static [SecretFlag],
}

const fn flag(name: &'static str, form: FlagForm) -> SecretFlag {
    SecretFlag { name, form, apart: true, attached: false, joins: false, needs: None }
}

const fn attached(name: &'static str) -> SecretFlag {
    SecretFlag { attached: true, ..flag(name, FlagForm::Whole) }
}

const fn joined(name: &'static str, form: FlagForm) -> SecretFlag {
    SecretFlag { attached: true, joins: true, ..flag(name, form) }
}

const fn behind(needs: &'static str, name: &'static str) -> SecretFlag {
    SecretFlag { needs: Some(needs), ..flag(name, FlagForm::Whole) }
}

const WHOLE: FlagForm = FlagForm::Whole;

const CURL: &[SecretFlag] = &[
    joined("-u", FlagForm::AfterColon),
    flag("--user", FlagForm::AfterColon),
    joined("-U", FlagForm::AfterColon),
    flag("--proxy-user", FlagForm::AfterColon),
    flag("-b", FlagForm::Cookies),
    flag("--cookie", FlagForm::Cookies),
    flag("--oauth2-bearer", WHOLE),
    flag("--pass", WHOLE),
    flag("--proxy-pass", WHOLE),
];
const WGET: &[SecretFlag] = &[
    flag("--password", WHOLE),
    flag("--http-password", WHOLE),
    flag("--ftp-password", WHOLE),
    flag("--proxy-password", WHOLE),
];
const HTTPIE: &[SecretFlag] = &[flag("-a", FlagForm::AfterColon), flag("--auth", FlagForm::AfterColon)];
const MYSQL: &[SecretFlag] = &[attached_only("-p"), flag("--password", WHOLE)];
const REDIS: &[SecretFlag] = &[flag("-a", WHOLE), flag("--pass", WHOLE)];
const REDIS_SERVER: &[SecretFlag] = &[flag("--requirepass", WHOLE), flag("--masterauth", WHOLE)];
const SMALL_P: &[SecretFlag] = &[flag("-p", WHOLE), flag("--password", WHOLE)];
const LARGE_P: &[SecretFlag] = &[attached("-P")];
const LDAP: &[SecretFlag] = &[attached("-w")];
const LOGIN: &[SecretFlag] = &[behind("login", "-p"), behind("login", "--password")];
const SSHPASS: &[SecretFlag] = &[attached("-p")];
const SMB: &[SecretFlag] = &[flag("-U", FlagForm::AfterPercent), flag("--user", FlagForm::AfterPercent)];
const OPENSSL: &[SecretFlag] = &[
    flag("-passin", FlagForm::Source),
    flag("-passout", FlagForm::Source),
    flag("-pass", FlagForm::Source),
    behind("enc", "-k"),
];
const KEYTOOL: &[SecretFlag] = &[
    flag("-storepass", WHOLE),
    flag("-keypass", WHOLE),
    flag("-srcstorepass", WHOLE),
    flag("-deststorepass", WHOLE),
    flag("-srckeypass", WHOLE),
    flag("-destkeypass", WHOLE),
];
const GPG: &[SecretFlag] = &[flag("--passphrase", WHOLE)];
const SSH_KEYGEN: &[SecretFlag] = &[flag("-N", WHOLE), flag("-P", WHOLE)];
const SEVEN_ZIP: &[SecretFlag] = &[attached_only("-p"), attached_only("-hp")];
const GH: &[SecretFlag] = &[behind("secret", "--body"), behind("secret", "-b")];
const TOKEN: &[SecretFlag] = &[flag("--token", WHOLE), flag("-t", WHOLE)];
const AWS: &[SecretFlag] = &[behind("SecureString", "--value"), flag("--secret-string", WHOLE)];
const MOSQUITTO: &[SecretFlag] = &[flag("-P", WHOLE), flag("--pw", WHOLE)];
const LFTP: &[SecretFlag] = &[flag("-u", FlagForm::AfterComma)];
const IMPALA: &[SecretFlag] = &[flag("-u", FlagForm::AfterSlash)];
const NONE: &[SecretFlag] = &[];

/// `-pX`, never `-p X`.
const fn attached_only(name: &'static str) -> SecretFlag {
    SecretFlag { apart: false, ..attached(name) }
}

const fn program(name: &'static str, flags: &'static [SecretFlag]) -> Program {
    Program { name, flags }
}

const PROGRAMS: &[Program] = &[
    program("curl", CURL),
    program("wget", WGET),
    program("http", HTTPIE),
    program("https", HTTPIE),
    program("xh", HTTPIE),
    program("mysql", MYSQL),
    program("mysqldump", MYSQL),
    program("mysqladmin", MYSQL),
    program("mysqlimport", MYSQL),
    program("mariadb", MYSQL),
    program("mariadb-dump", MYSQL),
    program("mariadb-admin", MYSQL),
    program("mycli", MYSQL),
    program("redis-cli", REDIS),
    program("valkey-cli", REDIS),
    program("keydb-cli", REDIS),
    program("redis-server", REDIS_SERVER),
    program("valkey-server", REDIS_SERVER),
    program("mongosh", SMALL_P),
    program("mongo", SMALL_P),
    program("mongodump", SMALL_P),
    program("mongorestore", SMALL_P),
    program("mongoexport", SMALL_P),
    program("mongoimport", SMALL_P),
    program("cqlsh", SMALL_P),
    program("cypher-shell", SMALL_P),
    program("twine", SMALL_P),
    program("sqlcmd", LARGE_P),
    program("bcp", LARGE_P),
    program("isql", LARGE_P),
    program("tsql", LARGE_P),
    program("ldapsearch", LDAP),
    program("ldapmodify", LDAP),
    program("ldapadd", LDAP),
    program("ldapdelete", LDAP),
    program("ldappasswd", LDAP),
    program("ldapwhoami", LDAP),
    program("docker", LOGIN),
    program("podman", LOGIN),
    program("nerdctl", LOGIN),
    program("buildah", LOGIN),
    program("skopeo", LOGIN),
    program("crane", LOGIN),
    program("helm", LOGIN),
    program("oras", LOGIN),
    program("az", LOGIN),
    program("oc", LOGIN),
    program("sshpass", SSHPASS),
    program("htpasswd", NONE),
    program("smbclient", SMB),
    program("rpcclient", SMB),
    program("openssl", OPENSSL),
    program("keytool", KEYTOOL),
    program("jarsigner", KEYTOOL),
    program("gpg", GPG),
    program("gpg2", GPG),
    program("ssh-keygen", SSH_KEYGEN),
    program("zip", LARGE_P),
    program("unzip", LARGE_P),
    program("7z", SEVEN_ZIP),
    program("7za", SEVEN_ZIP),
    program("7zz", SEVEN_ZIP),
    program("unrar", SEVEN_ZIP),
    program("gh", GH),
    program("vercel", TOKEN),
    program("aws", AWS),
    program("mosquitto_pub", MOSQUITTO),
    program("mosquitto_sub", MOSQUITTO),
    program("lftp", LFTP),
    program("beeline", IMPALA),
    program("vault", NONE),
    program("cargo", NONE),
    program("ngrok", NONE),
    program("net", NONE),
    program("rabbitmqctl", NONE),
    program("wpa_passphrase", NONE),
    program("mc", NONE),
    program("consul", NONE),
    program("sqlplus", NONE),
    program("ConvertTo-SecureString", NONE),
];

pub(in super::super) fn program_names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

pub(super) fn program_named(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}
