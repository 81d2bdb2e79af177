/// A JWS as it was posted, byte for byte, or why its stored bytes cannot be read.
package typealias OpenedBody = Result<[UInt8], UnreadableBody>
