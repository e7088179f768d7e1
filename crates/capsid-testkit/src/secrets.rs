//! Secrets of many shapes to plant where none may come out again. They are random, so none is in a source file.

use fastrand::Rng;

/// A line that gives a secret away.
#[derive(Debug, Clone)]
pub struct PlantedSecret {
    pub line: String,
    /// What of it may not be seen anywhere.
    pub secrets: Vec<String>,
}

impl PlantedSecret {
    /// The secrets and their halves, as far as those are long enough to matter.
    pub fn traces(&self) -> Vec<&str> {
        let halves = |secret: &'_ String| -> Vec<std::ops::Range<usize>> {
            let middle = secret.floor_char_boundary(secret.len() / 2);
            [0..secret.len(), 0..middle, middle..secret.len()]
                .into_iter()
                .filter(|part| part.len() >= 12 || part.len() == secret.len())
                .collect()
        };
        self.secrets.iter().flat_map(|secret| halves(secret).into_iter().map(|part| &secret[part])).collect()
    }
}

/// Credentials: `<36>` stands for letters and digits, `<36x>` for hex, `<16U>` for capitals and digits, `<8d>` for digits,
/// `<8l>` for small letters.
pub const CREDENTIALS: &[&str] = &[
    // clouds
    "AKIA<16U>",
    "aws id ASIA<16U> in use",
    "aws_secret_access_key = <40>",
    "AWS_SESSION_TOKEN=<60>",
    "AIza<35>",
    "ya29.<60>",
    "GOCSPX-<28>",
    "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=<86>==;EndpointSuffix=core.windows.net",
    "AZURE_CLIENT_SECRET=<3>8Q~<34>",
    "https://shop.blob.core.windows.net/a?sv=2022-11-02&sig=<43>%3D",
    "InstrumentationKey=<8x>-<4x>-<4x>-<4x>-<12x>",
    "SharedAccessKeyName=root;SharedAccessKey=<43>=",
    "dop_v1_<64x>",
    "CLOUDFLARE_API_TOKEN=<40>",
    "HEROKU_API_KEY=<8x>-<4x>-<4x>-<4x>-<12x>",
    "FLY_API_TOKEN=FlyV1 fm2_<60>",
    // code hosts and registries
    "ghp_<36>",
    "gho_<36>",
    "ghu_<36>",
    "ghs_<36>",
    "ghr_<36>",
    "github_pat_<22>_<59>",
    "glpat-<20>",
    "gldt-<20>",
    "npm_<36>",
    "//registry.npmjs.org/:_authToken=<36>",
    "pypi-<60>",
    "rubygems_<48x>",
    "dckr_pat_<27>",
    "{\"auths\":{\"r.io\":{\"auth\":\"<40>\"}}}",
    // chat
    "xoxb-<12d>-<12d>-<24>",
    "xoxp-<12d>-<12d>-<32>",
    "xapp-1-A<10U>-<12d>-<64x>",
    "https://hooks.slack.com/services/T<8U>/B<8U>/<24>",
    "M<23>.<6>.<27>",
    "https://discord.com/api/webhooks/<18d>/<68>",
    "<9d>:AA<33>",
    // money and mail
    "sk_live_<24>",
    "rk_live_<24>",
    "whsec_<32>",
    "SK<32x>",
    "TWILIO_AUTH_TOKEN=<32x>",
    "SG.<22>.<43>",
    "key-<32x>",
    "MAILCHIMP_API_KEY=<32x>-us12",
    "shpat_<32x>",
    "sq0atp-<22>",
    // models
    "sk-proj-<48>",
    "sk-<48>",
    "sk-ant-api03-<60>",
    "sk-or-v1-<64x>",
    "hf_<34>",
    "gsk_<52>",
    "r8_<37>",
    "pplx-<48>",
    "xai-<60>",
    // operations
    "DD_API_KEY=<32x>",
    "dd_app_key: <40x>",
    "hvs.<24>",
    "glsa_<32>_<8x>",
    "sntrys_<40>",
    "lin_api_<40>",
    "figd_<40>",
    "PMAK-<24x>-<34x>",
    "ATATT3<60>",
    "tskey-auth-<12>-<24>",
    "NRAK-<27U>",
    "dapi<32x>",
    "ntn_<46>",
    "pat<14>.<64x>",
    "<14>.atlasv1.<60>",
    "dt0c01.<24U>.<64U>",
    "pscale_tkn_<43>",
    "dp.pt.<43>",
    "sdk-<8x>-<4x>-<4x>-<4x>-<12x>",
    "Authorization: SSWS 00<40>",
    "AGE-SECRET-KEY-1<58U>",
    "secret_<43>",
    "nfp_<36>",
    // hubs
    "sess_<64x>",
    "ek_<48x>",
    "A2A_NODE_SECRET=<64x>",
    "{\"node_secret\": \"<64x>\", \"node_secret_version\": 1}",
    "\"webhook_secret\": \"whsec_<43>=\"",
    // headers
    "Authorization: Bearer <40>",
    "Authorization: Basic <32>==",
    "X-Api-Key: <32>",
    "Cookie: session=<40>; theme=dark",
    "Set-Cookie: sid=<32>; HttpOnly",
    "eyJ<20>.eyJ<40>.<43>",
    // addresses
    "https://ada:<16>@git.example.com/shop.git",
    "postgres://shop:<20>@db.example.com:5432/shop",
    "mongodb+srv://shop:<20>@cluster0.example.net/shop",
    "redis://:<24>@cache.example.com:6379/0",
    "amqp://shop:<18>@mq.example.com//",
    "Server=db;Database=shop;User Id=sa;Password=<16>;Encrypt=true",
    "jdbc:mysql://db/shop?user=shop&password=<16>",
    "db.example.com:5432:shop:ada:<16>",
    // files and commands
    "DB_PASSWORD=<16>",
    "SECRET_KEY_BASE=<64x>",
    "{\"token\":\"<32>\"}",
    "{\"access_token\": \"<40>\", \"expires_in\": 3600}",
    "  password: <14>",
    "export JWT_SECRET='<32>'",
    "<add key=\"ApiSecret\" value=\"<32>\" />",
    "mysql -u shop -p<16> shop",
    "curl -u ada:<16> https://api.example.com",
    "deploy --token <32>",
    "sshpass -p <14> ssh shop",
    "CREATE USER shop WITH PASSWORD '<16>';",
    // keys
    "-----BEGIN RSA PRIVATE KEY-----\n<64>\n<64>\n<40>\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\n<64>\n<44>\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n<64>\n<64>\n<20>\n-----END PRIVATE KEY-----",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n<64>\n<64>\n-----END ENCRYPTED PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n<70>\n<70>\n<30>\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n<64>\n<64>\n-----END PGP PRIVATE KEY BLOCK-----",
    "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n<64>\\n<64>\\n-----END PRIVATE KEY-----\\n\"",
    "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n<64>\n<40>",
];

/// What names a person or a machine.
pub const PERSONAL: &[&str] = &[
    "write to <9l>.<8l>@<9l>.io",
    "at /home/<12l>/shop/index.js:3",
    "at /Users/<12l>/shop/index.js:3",
    "read /root/<14l>/notes.txt",
    "read /srv/<14l>/data.db",
    "file:///home/<12l>/shop.html",
    "open C:\\Users\\<12l>\\shop.txt",
    "open \\\\<12l>\\share\\shop.txt",
    "connect 34.118.<2d>1.77:5432",
    "connect 10.31.<2d>2.17",
    "connect 2a01:4f8:<4x>:<4x>::7",
    "host <12l>.internal refused",
    "host <12l>.corp refused",
    "host <12l>.lan refused",
    "host <12l>.local refused",
    "/mnt/c/Users/<12l>/shop",
    "ssh <10l>@<12l>.corp",
    "\"path\": \"/home/<12l>/.ssh/id_rsa\"",
];

/// The shapes, filled in by chance.
pub fn planted(templates: &[&str], chance: &mut Rng) -> Vec<PlantedSecret> {
    templates.iter().map(|template| fill(template, chance)).collect()
}

fn fill(template: &str, chance: &mut Rng) -> PlantedSecret {
    let (mut line, mut secrets) = (String::new(), Vec::new());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        line += before;
        let spec = after.split_once('>').filter(|_| after.starts_with(|c: char| c.is_ascii_digit()));
        let Some((spec, after)) = spec else {
            line.push('<');
            rest = after;
            continue;
        };
        let alphabet: &[u8] = match spec.bytes().last() {
            Some(b'x') => b"0123456789abcdef",
            Some(b'U') => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            Some(b'd') => b"123456789",
            Some(b'l') => b"bcdfghjklmnpqrstvwxz",
            _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        let count: usize = spec.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap();
        let mut made: Vec<u8> = (0..count).map(|_| alphabet[chance.usize(..alphabet.len())]).collect();
        // Chance could leave out what makers' generators do not: every token of some length has both.
        if count >= 12 && alphabet.len() == 62 {
            made[3] = b'7';
            made[5] = b'k';
            made[6] = b'Q';
        }
        let made = String::from_utf8(made).unwrap();
        if count >= 8 {
            secrets.push(made.clone());
        }
        line += &made;
        rest = after;
    }
    PlantedSecret { line: line + rest, secrets }
}
