/// A JWS as it was posted, byte for byte, or why what is stored of it cannot be read.
package typealias OpenedBody = Result<[UInt8], UnreadableBody>
