extension UnsignedNotification {
    /// The compact JWS that the authority would post as `signedPayload`, its nested records signed by the same authority.
    ///
    /// The signatures, and so the text, differ from call to call: ES256 signatures are randomised.
    public func signed(by authority: SimulatedAuthority) -> String {
        signed { authority.sign($0) }
    }

    /// The body of Apple's POST for a signed payload: `{"signedPayload":"…"}`.
    public static func postBody(_ signedPayload: String) -> [UInt8] {
        JSONObjectWriter.object(capacity: signedPayload.utf8.count + 32) { $0.member("signedPayload", signedPayload) }
    }
}
