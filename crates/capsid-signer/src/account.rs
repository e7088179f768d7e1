//! Accounts of the machine, as `/etc/passwd` and `getent passwd` write them.

use std::path::PathBuf;

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAccount {
    pub name: String,
    pub user: u32,
    pub group: u32,
    pub home: PathBuf,
}

impl UserAccount {
    /// The account with a name or a number, in lines of `passwd`.
    pub fn find(passwd: &str, wanted: &str) -> Option<Self> {
        let number = wanted.parse::<u32>().ok();
        let accounts = || passwd.lines().filter_map(Self::parse);
        let named = accounts().find(|account| account.name == wanted);
        named.or_else(|| accounts().find(|account| Some(account.user) == number))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(':');
        let (name, _password) = (fields.next()?, fields.next()?);
        let (user, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (_comment, home) = (fields.next()?, fields.next()?);
        Some(Self { name: name.to_owned(), user, group, home: home.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_name_or_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n+::::::\nada:x:1000:1001:Ada,,,:/home/ada:/bin/sh\n7:x:8:8::/seven:/bin/sh\n";
        let ada = UserAccount { name: "ada".to_owned(), user: 1000, group: 1001, home: "/home/ada".into() };
        assert_eq!(UserAccount::find(passwd, "ada"), Some(ada.clone()));
        assert_eq!(UserAccount::find(passwd, "1000"), Some(ada));
        assert_eq!(UserAccount::find(passwd, "7").map(|account| account.user), Some(8), "a name comes first");
        assert_eq!(UserAccount::find(passwd, "bob"), None);
    }
}
