import Foundation
import TestSupport
import Testing

/// A key file in a directory, by which programs keep the secrets of endpoints.
func makeSecretKey(in directory: String) throws -> String {
    let file = "\(directory)/secret-key"
    try #require(
        FileManager.default.createFile(
            atPath: file, contents: Data("\(String(repeating: "0f", count: 32))\n".utf8),
            attributes: [.posixPermissions: 0o600]))
    return file
}

/// Settings with such a key file, and leave to post to this machine.
func makeEndpointSettings(in directory: String) throws -> [String: String] {
    [
        "STOREHOOK_SECRET_KEY_FILE": try makeSecretKey(in: directory), "STOREHOOK_ENDPOINT_HTTP": "on",
        "STOREHOOK_ENDPOINT_NETWORKS": "127.0.0.0/8",
    ]
}
