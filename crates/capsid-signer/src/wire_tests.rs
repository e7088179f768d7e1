use super::*;

#[test]
fn a_frame_is_read_back_and_what_is_too_long_is_not_read() {
    let request = SignerRequest::Sign { lengths: vec![2, 0, 3] };
    let mut bytes = Vec::new();
    write_frame(&mut bytes, &request, &[b"ab", b"cde"]).unwrap();
    let (read, payload) = read_frame::<SignerRequest>(&mut bytes.as_slice(), 5).unwrap().unwrap();
    assert_eq!(read, request);
    assert_eq!(split_texts(&payload, &[2, 0, 3]).unwrap(), ["ab", "", "cde"]);
    assert!(read_frame::<SignerRequest>(&mut bytes.as_slice(), 4).is_err());
    assert!(read_frame::<SignerRequest>(&mut &bytes[..bytes.len() - 1], 5).is_err());
    assert!(read_frame::<SignerRequest>(&mut [].as_slice(), 5).unwrap().is_none());
    let endless = [u32::MAX.to_le_bytes(), [0; 4]].concat();
    assert!(read_frame::<SignerRequest>(&mut endless.as_slice(), 5).is_err());
}

#[test]
fn lengths_that_do_not_add_up_are_refused() {
    for lengths in [&[4][..], &[6], &[2, 2], &[5, 1], &[u32::MAX, 1]] {
        assert_eq!(split_texts(b"abcde", lengths).unwrap_err().code, "signer_malformed");
    }
    assert_eq!(split_texts(b"\xff", &[1]).unwrap_err().code, "signer_malformed");
}
