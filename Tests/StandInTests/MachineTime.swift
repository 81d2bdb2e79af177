import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The machine's time, and what a token gets at it.
enum MachineTime {
    static var seconds: Int64 { Int64(Date().timeIntervalSince1970) }

    /// The status of a question about a transaction that is not there.
    static func status(_ url: String, _ token: String) async throws -> Int {
        var request = HTTPClientRequest(url: url + "/inApps/v1/transactions/1")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 16)
        return Int(response.status.code)
    }
}
