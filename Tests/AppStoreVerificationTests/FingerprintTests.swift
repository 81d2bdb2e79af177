import AppStoreVerification
import Base
import Testing

@Suite("A fingerprint")
struct FingerprintTests {
    private let text = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"

    @Test("of Apple Root CA - G3 is the one that Apple publishes")
    func apple() {
        #expect(Fingerprint.appleRootG3.description == text)
        #expect(VerifierConfiguration(apps: [:]).trustedRoots == TrustedRoots(appStore: [.appleRootG3]))
    }

    @Test("is read in both letter cases and with colons, and from nothing else")
    func reading() {
        #expect(Fingerprint(text) == .appleRootG3)
        #expect(Fingerprint(text.uppercased()) == .appleRootG3)
        var pairs: [String] = []
        for index in stride(from: 0, to: 64, by: 2) { pairs.append(String(text.dropFirst(index).prefix(2))) }
        #expect(Fingerprint(pairs.joined(separator: ":")) == .appleRootG3)
        for wrong in [
            "", String(text.dropLast()), text + "0", text + "00", ":" + text, "6:3" + text.dropFirst(2),
            "g" + text.dropFirst(),
        ] {
            #expect(Fingerprint(wrong) == nil, "\(wrong)")
        }
        #expect(Fingerprint(of: []).description == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(Fingerprint(of: []).bytes.count == 32)
    }
}
