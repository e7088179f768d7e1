//! Passwords: argon2id, slow on purpose, so it is done beside the requests and only twice at a time.

use crate::error::{ApiError, ApiResult};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier};
use capsid_model::problem::{Code, Problem};
use tokio::sync::Semaphore;

/// Each takes 19 MiB for some 20 ms; more at a time would only make all of them slower.
const AT_A_TIME: usize = 2;

/// Of a password that nobody has. Whoever names an unknown account waits as long as for a known one.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5aGFzdGhpc29uZQ$\
                       bm9ib2R5IGhhcyB0aGlzIG9uZSwgYW5kIG5vYm9keSA";

/// Whose turn it is.
#[derive(Debug)]
pub struct PasswordHasher {
    turns: Semaphore,
}

impl Default for PasswordHasher {
    fn default() -> Self {
        Self { turns: Semaphore::new(AT_A_TIME) }
    }
}

impl PasswordHasher {
    /// The hash of a password, as a PHC string.
    pub async fn hash(&self, password: String, salt: [u8; 16]) -> ApiResult<String> {
        Ok(self.in_turn(move || hash(&password, &salt)).await??)
    }

    /// Whether a password is the one of a hash. Without a hash it takes as long, and is wrong.
    pub async fn is_right(&self, password: String, hash: Option<String>) -> ApiResult<bool> {
        self.in_turn(move || verify(&password, hash.as_deref().unwrap_or(NOBODYS)) && hash.is_some()).await
    }

    async fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
        let failed =
            |_| ApiError::from(Problem::new(Code::StoreBusy, "The hub is stopping and checks no password."));
        let _turn = self.turns.acquire().await.map_err(|_| failed(()))?;
        tokio::task::spawn_blocking(work).await.map_err(|_| failed(()))
    }
}

/// The hash of a password, as a PHC string, for whoever may wait.
pub fn hash(password: &str, salt: &[u8; 16]) -> capsid_model::Result<String> {
    Argon2::default()
        .hash_password_with_salt(password.as_bytes(), salt)
        .map(|hash| hash.to_string())
        .map_err(|error| Problem::new(Code::Internal, format!("The password cannot be hashed: {error}.")))
}

fn verify(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_alone() {
        let hash = hash("correct horse", &[7; 16]).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(!hash.contains("horse"));
        assert!(verify("correct horse", &hash));
        assert!(!verify("correct horsf", &hash));
        assert!(!verify("correct horse", "not a hash"));
    }

    /// The two take the same path, so that time does not tell which accounts there are.
    #[test]
    fn an_unknown_account_costs_as_much_as_a_known_one() {
        let real = hash("correct horse", &[7; 16]).unwrap();
        let (real, nobodys) = (PasswordHash::new(&real).unwrap(), PasswordHash::new(NOBODYS).unwrap());
        assert_eq!(real.algorithm, nobodys.algorithm);
        assert_eq!(real.version, nobodys.version);
        assert_eq!(real.params, nobodys.params);
        assert_eq!(real.hash.unwrap().len(), nobodys.hash.unwrap().len());
        assert_eq!(real.salt.unwrap().len(), nobodys.salt.unwrap().len());
    }
}
